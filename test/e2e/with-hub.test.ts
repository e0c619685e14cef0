import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HANG_MS } from '@berth/test-kit/patience';
import { describe, expect, it } from 'vitest';

const FILE = join(import.meta.dirname, 'with-hub-under-node.mjs');

/** Ends by itself if nothing is left open. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { NODE_OPTIONS: _, VITEST: __, ...plain } = process.env;
  const options = { encoding: 'utf8', timeout: HANG_MS, env: { ...plain, ...env } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, FILE], options);
  const folder = dirname(/FOLDER (\S+)/.exec(stdout)?.[1] ?? '');
  return { status, stdout, stderr, folder };
}

describe('withHub without this test runner', () => {
  it.each([
    { name: 'under the runner of Node', args: ['--test'] },
    { name: 'in a plain program', args: [] },
  ])('$name', ({ args }) => {
    const { status, stdout, stderr, folder } = run(args);
    expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' });
    expect(folder).toContain('berth-test-hub-');
    expect(existsSync(folder)).toBe(false);
  });

  it('leaves no file when its process ends in the middle', () => {
    const { status, folder } = run([], { EXIT_EARLY: '1' });
    expect(status).toBe(3);
    expect(folder).toContain('berth-test-hub-');
    expect(existsSync(folder)).toBe(false);
  });
});
