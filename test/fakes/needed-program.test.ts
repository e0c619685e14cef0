import { expect, it, vi } from 'vitest';
import { findProgram, isAvailable } from '@berth/test-kit/needed-program';

const PROBLEM = 'there is no gpg on this machine';

it('a test whose program is there runs, also where that is required', () => {
  expect(isAvailable('gpg', undefined, { BERTH_REQUIRED: 'gpg' })).toBe(true);
});

it.each([
  { name: 'nothing is required', env: {} },
  { name: 'other programs are required, one with a similar name', env: { BERTH_REQUIRED: 'gpgconf sshd' } },
])('a test whose program is missing is skipped with a sentence where $name', ({ env }) => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  try {
    expect(isAvailable('gpg', PROBLEM, env)).toBe(false);
    expect(warn.mock.calls).toEqual([[`skipped: ${PROBLEM}`]]);
  } finally {
    warn.mockRestore();
  }
});

it('a test whose program is missing fails where the program is required', () => {
  expect(() => isAvailable('gpg', PROBLEM, { BERTH_REQUIRED: ' sshd\ngpg ' })).toThrow(
    `BERTH_REQUIRED contains gpg: ${PROBLEM}`,
  );
});

it('a program is found as a shell finds it', () => {
  expect(findProgram('sh')).toMatch(/^\/.*\/sh$/);
});
