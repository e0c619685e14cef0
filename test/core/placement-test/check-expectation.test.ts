import { describe, expect, it } from 'vitest';
import type { DecidedCase } from '../../../src/core/placement-test/check-expectation.ts';
import { checkExpectation } from '../../../src/core/placement-test/check-expectation.ts';
import type { Expectation } from '../../../src/core/placement-test/placement-test.ts';
import { cluster } from '../../../packages/placement/test/explain/snapshots.ts';

const DECIDED: DecidedCase = {
  selected: ['a', 'b'],
  selectedBefore: ['a', 'c', 'd'],
  satisfied: true,
  clusters: [
    cluster('a', { region: 'eu' }),
    cluster('b', { region: 'eu' }),
    cluster('c', {}, { claims: { zone: '1' } }),
  ],
  explain: (name) => `why ${name}`,
};

describe('checkExpectation', () => {
  it.each<[Expectation, readonly string[]]>([
    [
      {
        selected: ['a'],
        notSelected: ['c'],
        exactly: ['b', 'a'],
        count: 2,
        atLeast: 2,
        atMost: 2,
        satisfied: true,
      },
      [],
    ],
    [{ selected: ['c'] }, ['c should be selected: why c']],
    [{ notSelected: ['a'] }, ['a should not be selected: why a']],
    [{ exactly: ['a', 'c'] }, ['c should be selected: why c', 'b should not be selected: why b']],
    [{ count: 3 }, ['3 clusters should be selected: got 2 (a, b)']],
    [{ atLeast: 3 }, ['at least 3 clusters should be selected: got 2 (a, b)']],
    [{ atMost: 1 }, ['at most 1 clusters should be selected: got 2 (a, b)']],
    [{ spread: { label: 'region', atLeast: 1 } }, []],
    [
      { spread: { label: 'region', atLeast: 2 } },
      ['at least 2 values of label region should be covered: got 1 (eu)'],
    ],
    [{ spread: { claim: 'zone', atLeast: 1 } }, ['at least 1 values of claim zone should be covered: got 0']],
    [{ movesAtMost: 2 }, []],
    [{ movesAtMost: 1 }, ['at most 1 clusters should move: got 2 (+b, -c, -d)']],
    [{ satisfied: false }, ['the placement should not be satisfied']],
  ])('%j', (expected, failures) => {
    expect(checkExpectation(expected, DECIDED)).toEqual(failures);
  });
});
