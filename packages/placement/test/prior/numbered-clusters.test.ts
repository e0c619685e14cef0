import { describe, expect, it } from 'vitest';
import { makeOwnDecisions } from '../../src/prior/own-decisions.ts';
import { numberClusters, sameNumbers } from '../../src/prior/published-clusters.ts';

const fleet = {};
const numbered = (names: string[], numbers: number[], numbering: object = fleet): string[] => {
  numberClusters(names, { numbering, decisions: makeOwnDecisions(Uint32Array.from(numbers), 8) });
  return names;
};

describe('whether two lists have the same clusters, by their numbers', () => {
  const both = numbered(['a', 'b'], [0, 1]);
  it.each([
    { name: 'the same list', other: both, want: true },
    { name: 'another order', other: numbered(['b', 'a'], [1, 0]), want: true },
    { name: 'another cluster', other: numbered(['a', 'c'], [0, 2]), want: false },
    { name: 'another length, without numbers', other: ['a'], want: false },
    { name: 'without numbers', other: ['a', 'b'], want: undefined },
    { name: 'numbers of another fleet', other: numbered(['a', 'b'], [0, 1], {}), want: undefined },
  ])('$name: $want', ({ other, want }) => {
    expect(sameNumbers(both, other)).toBe(want);
  });
});
