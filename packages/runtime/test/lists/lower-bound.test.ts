import { describe, expect, it } from 'vitest';
import { findSorted, lowerBound } from '../../src/lists/lower-bound.ts';

describe('lowerBound', () => {
  it.each([
    { name: 'nothing', given: [], wanted: 3, want: 0 },
    { name: 'before all', given: [5, 7], wanted: 3, want: 0 },
    { name: 'between two', given: [1, 5], wanted: 3, want: 1 },
    { name: 'the first of equals', given: [1, 3, 3, 3, 5], wanted: 3, want: 1 },
    { name: 'behind all', given: [1, 2], wanted: 3, want: 2 },
  ])('finds the place: $name', ({ given, wanted, want }) =>
    expect(lowerBound(given.length, (at) => (given[at] as number) < wanted)).toBe(want),
  );
});

describe('findSorted', () => {
  const list = Uint32Array.from([2, 3, 5, 7, 11, 13]);

  it('finds every number of the list and no other', () => {
    const found = Array.from({ length: 15 }, (_, number) => findSorted(list, number));
    expect(found).toEqual(Array.from({ length: 15 }, (_, number) => inList(number)));
    expect(findSorted(new Uint32Array(0), 1)).toBeUndefined();
  });

  function inList(number: number): number | undefined {
    const at = list.indexOf(number);
    return at < 0 ? undefined : at;
  }
});
