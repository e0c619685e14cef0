import { describe, expect, it } from 'vitest';
import { isPartOf } from '../../../src/apply/apply-manifest.ts';

describe('what is left when something is taken away', () => {
  const whole = { a: 1, list: [{ b: 1, c: 2 }, { b: 3 }, 'x'], deep: { d: null } };

  it.each([
    { part: whole, want: true },
    { part: {}, want: true },
    { part: { list: [{ c: 2 }, 'x'] }, want: true },
    { part: { list: ['x', { b: 3 }] }, want: false },
    { part: { list: [{ b: 3 }, { b: 3 }] }, want: false },
    { part: { a: 2 }, want: false },
    { part: { a: 1, e: 1 }, want: false },
    { part: { deep: { d: {} } }, want: false },
    { part: { deep: [] }, want: false },
    { part: { list: {} }, want: false },
    { part: [whole], want: false },
  ])('$part: $want', ({ part, want }) => {
    expect(isPartOf(part, whole)).toBe(want);
  });
});
