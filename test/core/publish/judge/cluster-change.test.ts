import { describe, expect, it } from 'vitest';
import { sameClusters } from '../../../../src/core/publish/judge/cluster-change.ts';

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
