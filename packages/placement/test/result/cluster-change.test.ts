import { describe, expect, it } from 'vitest';
import { clusterChange, sameClusters } from '../../src/result/cluster-change.ts';

describe('the change between two lists', () => {
  it.each([
    { before: [], after: ['b', 'a'], want: { added: ['a', 'b'], removed: [] } },
    { before: [], after: ['a', 'b', 'c'], want: { added: ['a', 'b', 'c'], removed: [] } },
    { before: ['c', 'a'], after: [], want: { added: [], removed: ['a', 'c'] } },
    { before: ['a', 'd', 'b'], after: ['b', 'e', 'c'], want: { added: ['c', 'e'], removed: ['a', 'd'] } },
    { before: ['a', 'b', 'c'], after: ['a', 'c'], want: { added: [], removed: ['b'] } },
    { before: ['a', 'c'], after: ['a', 'b', 'c'], want: { added: ['b'], removed: [] } },
    { before: ['a', 'x', 'y', 'c'], after: ['a', 'y', 'x', 'c'], want: { added: [], removed: [] } },
  ])('$before to $after, sorted by name', ({ before, after, want }) => {
    expect(clusterChange(before, after)).toEqual(want);
  });
});

describe('whether two lists have the same clusters', () => {
  it.each([
    { a: [], b: [], same: true },
    { a: ['a', 'b'], b: ['a', 'b'], same: true },
    { a: ['a', 'b', 'c', 'd'], b: ['a', 'c', 'b', 'd'], same: true },
    { a: ['d', 'b', 'c', 'a'], b: ['a', 'b', 'c', 'd'], same: true },
    { a: ['a', 'b'], b: ['a'], same: false },
    { a: ['a', 'b', 'c'], b: ['a', 'x', 'c'], same: false },
    { a: ['a', 'b'], b: ['a', 'a'], same: false },
  ])('$a and $b: $same', ({ a, b, same }) => {
    expect(sameClusters(a, b)).toBe(same);
  });
});
