import { describe, expect, it } from 'vitest';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import { addOnScore } from '../../src/prioritize/addon-score.ts';
import type { MissingScores } from '../../src/prioritize/missing-scores.ts';
import { balance } from '../../src/prioritize/balance.ts';
import {
  resourceAllocatableCpu,
  resourceAllocatableMemory,
} from '../../src/prioritize/resource-allocatable.ts';
import { steady } from '../../src/prioritize/steady.ts';
import { NOON } from '../snapshots.ts';
import type { ScoreSketch } from './score-input.ts';
import { scoresOf } from './score-input.ts';

interface Case extends ScoreSketch {
  readonly name: string;
  readonly want: readonly number[];
}

describe('Balance', () => {
  it.each<Case>([
    { name: 'no decision anywhere', counts: [0, 0], most: 0, want: [100, 100] },
    { name: '100 for none, −100 for the most', counts: [0, 4], most: 4, want: [100, -100] },
    {
      name: 'a share of the most, not of the sum',
      counts: [0, 1, 2, 3, 4],
      most: 4,
      want: [100, 50, 0, -50, -100],
    },
    {
      name: 'the most of all clusters, not of those to score',
      counts: [1, 2, 9],
      most: 8,
      clusters: [0, 1],
      want: [74, 50],
    },
    { name: 'rounds towards zero before it doubles', counts: [1, 2], most: 3, want: [32, -32] },
    { name: 'does not count its own decision', counts: [2, 3], most: 2, own: [1], want: [-100, -100] },
    { name: 'its own decision alone counts as none', counts: [1], most: 4, own: [0], want: [100] },
  ])('$name', ({ want, ...sketch }) => {
    expect(scoresOf(balance, sketch).scores).toEqual(want);
  });

  it('says the same of many clusters, for which it makes a table, as of a few', () => {
    const counts = Array.from({ length: 40 }, (_, cluster) => cluster % 8);
    const own = [3, 11, 12];
    const { scores } = scoresOf(balance, { counts, most: 7, own });
    const oneByOne = counts.flatMap(
      (_, cluster) => scoresOf(balance, { counts, most: 7, own, clusters: [cluster] }).scores,
    );
    expect(scores).toEqual(oneByOne);
  });

  it('answers for a count as it scores', () => {
    expect([0, 1, 2, 3].map((count) => balance.countScore?.(count, 3))).toEqual([100, 32, -32, -100]);
  });
});

describe('Steady', () => {
  it('gives 100 to clusters that are decided, 0 to others', () => {
    expect(scoresOf(steady, { counts: [0, 0, 0], decided: [1] }).scores).toEqual([0, 100, 0]);
  });
});

describe.each([resourceAllocatableCpu, resourceAllocatableMemory])('$name', (prioritizer) => {
  it.each<Case>([
    { name: '−100 for the least, 100 for the most', amounts: [4, 2, 8], want: [-33, -100, 100] },
    { name: '100 where all have the same', amounts: [4, 4], want: [100, 100] },
    {
      name: 'none for a cluster that does not report it',
      amounts: [Number.NaN, 2, 4],
      want: [Number.NaN, -100, 100],
    },
    {
      name: 'the range of the clusters to score alone',
      amounts: [1, 2, 4, 100],
      clusters: [1, 2],
      want: [-100, 100],
    },
  ])('$name', ({ want, ...sketch }) => {
    expect(scoresOf(prioritizer, sketch).scores).toEqual(want);
  });
});

describe('AddOn', () => {
  const reported = (value: number, validUntil?: string): AddOnPlacementScore => ({
    apiVersion: 'cluster.open-cluster-management.io/v1alpha1',
    kind: 'AddOnPlacementScore',
    metadata: { name: 'load', namespace: 'c' },
    status: {
      scores: [
        { name: 'cpu', value },
        { name: 'memory', value: -7 },
      ],
      ...(validUntil !== undefined && { validUntil }),
    },
  });
  it.each<Case & { readonly expired: readonly string[] }>([
    { name: 'the reported value', addOn: [reported(40), reported(-3)], want: [40, -3], expired: [] },
    { name: '0 where nothing is reported', addOn: [undefined, reported(5)], want: [0, 5], expired: [] },
    {
      name: 'valid up to its last instant',
      addOn: [reported(40, NOON), reported(40, '2026-03-01T11:59:59Z')],
      want: [40, 0],
      expired: ['c1/load'],
    },
    { name: 'an end that is no time never comes', addOn: [reported(40, 'soon')], want: [40], expired: [] },
  ])('$name', ({ want, expired, ...sketch }) => {
    expect(scoresOf(addOnScore('load', 'cpu'), sketch)).toEqual({ scores: want, expired });
  });

  it.each<{ rule: MissingScores; weight: number; want: readonly number[] }>([
    { rule: 'neutral', weight: 1, want: [40, 0, 0, 0] },
    { rule: 'worst', weight: 1, want: [40, -100, -100, -100] },
    { rule: 'worst', weight: -2, want: [40, 100, 100, 100] },
    { rule: 'last', weight: 1, want: [40, 70, 0, 0] },
  ])('$rule with weight $weight: what counts without a valid score', ({ rule, weight, want }) => {
    const nameless = { ...reported(1), status: { scores: [{ name: 'memory', value: 1 }] } };
    const addOn = [reported(40, NOON), reported(70, '2026-03-01T11:59:59Z'), undefined, nameless];
    expect(scoresOf(addOnScore('load', 'cpu', { rule, weight }), { addOn })).toEqual({
      scores: want,
      expired: ['c1/load'],
    });
  });

  it('takes the last of several scores with one name, and 0 for a name that is not there', () => {
    const twice = reported(1);
    const scores = [...(twice.status?.scores ?? []), { name: 'cpu', value: 2 }];
    const addOn = [{ ...twice, status: { scores } }];
    expect(scoresOf(addOnScore('load', 'cpu'), { addOn }).scores).toEqual([2]);
    expect(scoresOf(addOnScore('load', 'disk'), { addOn }).scores).toEqual([0]);
  });
});
