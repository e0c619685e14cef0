import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closestName } from '../../src/text/closest-name.ts';

function plainDistance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const substitute = plainDistance(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1);
  return Math.min(substitute, plainDistance(a.slice(1), b) + 1, plainDistance(a, b.slice(1)) + 1);
}

describe('the name that was meant', () => {
  it.each([
    ['prod-eu', 'prod-eu-1', 'prod-eu-1'],
    ['Steday', 'Steady', 'Steady'],
    ['prod', 'test', undefined],
    ['a', 'b', 'b'],
    ['', 'a', undefined],
  ])('%j, where there is %j', (name, candidate, want) => {
    expect(closestName(name, [candidate])).toBe(want);
  });

  it('is as near as the plain distance says', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
    fc.assert(
      fc.property(word, word, (name, candidate) => {
        const limit = Math.min(3, Math.ceil(name.length / 2) + 1);
        const want = plainDistance(name, candidate) < limit ? candidate : undefined;
        expect(closestName(name, [candidate])).toBe(want);
      }),
    );
  });

  it('is found at once among names as long as a file', () => {
    // Looking at every cell would take the better part of an hour on the fastest machine.
    const name = 'ab'.repeat(500_000);
    expect(closestName(name, [`${name.slice(0, 99)}x${name.slice(99)}`])).toBeDefined();
    expect(closestName(name, ['ba'.repeat(499_999)])).toBeDefined();
    expect(closestName(name, ['x'.repeat(1_000_000)])).toBeUndefined();
  });
});
