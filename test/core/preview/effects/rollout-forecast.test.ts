import { describe, expect, it } from 'vitest';
import type { RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';
import { laterRollouts } from '../../../../src/core/preview/later/later-texts.ts';
import { forecastRollout } from '../../../../src/core/preview/make-plan.ts';

const GROUPS = [
  { index: 0, name: 'canary', clusters: ['c9'] },
  { index: 1, name: '', clusters: ['c1', 'c2', 'c3'] },
];
const MINUTE_MS = 60_000;

interface Case {
  readonly name: string;
  readonly strategy: RolloutStrategy;
  readonly done?: readonly string[];
  readonly waves: readonly string[];
  readonly minutes: number;
}

describe('forecastRollout', () => {
  it.each<Case>([
    { name: 'all at once', strategy: { type: 'All' }, waves: ['c1 c2 c3 c9'], minutes: 0 },
    {
      name: 'two at a time',
      strategy: { type: 'Progressive', progressive: { maxConcurrency: 2, minSuccessTime: '5m' } },
      waves: ['c1 c2', 'c3 c9'],
      minutes: 10,
    },
    {
      name: 'the canary first',
      strategy: {
        type: 'Progressive',
        progressive: {
          maxConcurrency: '100%',
          minSuccessTime: '5m',
          mandatoryDecisionGroups: [{ groupName: 'canary' }],
        },
      },
      waves: ['c9', 'c1 c2 c3'],
      minutes: 10,
    },
    {
      name: 'group by group',
      strategy: { type: 'ProgressivePerGroup', progressivePerGroup: { minSuccessTime: '1m' } },
      waves: ['c9', 'c1 c2 c3'],
      minutes: 2,
    },
    {
      name: 'what is there already takes no place',
      strategy: { type: 'Progressive', progressive: { maxConcurrency: 2, minSuccessTime: '5m' } },
      done: ['c1', 'c2', 'c9'],
      waves: ['c3'],
      minutes: 5,
    },
    {
      name: 'nothing to do',
      strategy: { type: 'Progressive', progressive: { minSuccessTime: '5m' } },
      done: ['c1', 'c2', 'c3', 'c9'],
      waves: [],
      minutes: 0,
    },
  ])('gives $name', ({ strategy, done = [], waves, minutes }) => {
    const forecast = forecastRollout({ strategy, groups: GROUPS, done: new Set(done) });
    expect(forecast.waves.map(({ clusters }) => clusters.join(' '))).toEqual(waves);
    expect(forecast.shortestMs).toBe(minutes * MINUTE_MS);
    expect(forecast.problem).toBeUndefined();
    expect(forecast.moreWaves).toBe(0);
  });

  it('has the deadline of clusters that do not succeed', () => {
    const strategy = { type: 'Progressive', progressive: { progressDeadline: '10m' } };
    const forecast = forecastRollout({ strategy, groups: GROUPS, done: new Set() });
    expect(forecast.deadlineMs).toBe(10 * MINUTE_MS);
    const all = { type: 'All', all: { progressDeadline: '10m' } };
    expect(forecastRollout({ strategy: all, groups: GROUPS, done: new Set() })).not.toHaveProperty(
      'deadlineMs',
    );
  });

  it('says which batches come later, at the earliest', () => {
    const later = (minSuccessTime: string, size: number) => {
      const clusters = Array.from({ length: size }, (_, at) => `c${at + 1}`);
      const strategy = { type: 'Progressive', progressive: { maxConcurrency: 1, minSuccessTime } };
      const forecast = forecastRollout({
        strategy,
        groups: [{ index: 0, name: '', clusters }],
        done: new Set(),
      });
      const workload = {
        kind: 'ManifestWorkReplicaSet',
        namespace: 'shop',
        name: 'web',
        placement: 'shop/web',
      };
      return laterRollouts({ rollouts: [{ ...workload, ...forecast }] });
    };
    expect(later('0', 3)).toEqual([]);
    expect(later('5m', 1)).toEqual([]);
    expect(later('30m', 3)).toEqual([
      {
        text: 'ManifestWorkReplicaSet shop/web reaches c2 at the earliest 30 minutes after the merge, then c3 at the earliest one hour after it: each batch must first have succeeded for 30 minutes (minSuccessTime)',
        endsAfterMs: 60 * MINUTE_MS,
      },
    ]);
    expect(later('1m', 10)).toEqual([
      {
        text: expect.stringContaining(
          'then c3 at the earliest 3 minutes after it, then the last of 10 batches at the earliest 9 minutes after it:',
        ),
        endsAfterMs: 9 * MINUTE_MS,
      },
    ]);
  });

  it('says why a strategy cannot be read', () => {
    expect(forecastRollout({ strategy: { type: 'Never' }, groups: GROUPS, done: new Set() }).problem).toMatch(
      /incorrect rollout strategy type Never/,
    );
  });

  it('lists the first batches of a huge rollout and counts the others', () => {
    const clusters = Array.from({ length: 10_000 }, (_, at) => `c${String(at).padStart(5, '0')}`);
    const strategy = { type: 'Progressive', progressive: { maxConcurrency: 1, minSuccessTime: '1m' } };
    const forecast = forecastRollout({
      strategy,
      groups: [{ index: 0, name: '', clusters }],
      done: new Set(),
    });
    expect(forecast.waves.length + forecast.moreWaves).toBe(10_000);
    expect(forecast.shortestMs).toBe(10_000 * MINUTE_MS);
  });
});
