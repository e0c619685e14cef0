import { describe, expect, it } from 'vitest';
import { laterAhead, laterRollouts } from '../../../../src/core/preview/later/later-texts.ts';
import { forecastRollout } from '../../../../src/core/preview/make-plan.ts';
import type { LaterChange } from '../../../../src/core/preview/plan.ts';

const MERGED_MS = Date.parse('2026-03-01T12:00:00Z');
const MINUTE_MS = 60_000;

const leaving: LaterChange = {
  ...{ namespace: 'shop', name: 'metrics', afterMs: 60 * MINUTE_MS, by: 'tolerationSeconds' },
  ...{ added: [], removed: ['c1'], kept: [] },
};
const silenced: LaterChange = {
  ...{ namespace: 'shop', name: 'db', at: '2026-03-01T12:02:00Z', by: 'lease' },
  ...{ added: ['c2'], removed: ['c1'], kept: [], ifSilent: ['c1'] },
};
const rollout = { text: 'the rollout', endsAfterMs: 30 * MINUTE_MS };

describe('what is still ahead after a merge', () => {
  const said = { later: [leaving, silenced], laterRollouts: [rollout] };
  const DB =
    'shop/db leaves c1 and joins c2 at 2026-03-01 12:02:00 UTC, when an overdue lease runs out (leaseDurationSeconds), if the agent of c1 stays silent';
  const METRICS =
    'shop/metrics leaves c1 one hour after the merge, when its toleration of a taint ends (tolerationSeconds)';

  it.each([
    { minutes: 1, want: [METRICS, DB, 'the rollout'] },
    { minutes: 5, want: [METRICS, 'the rollout'] },
    { minutes: 30, want: [METRICS] },
    { minutes: 60, want: [] },
  ])('after $minutes minutes', ({ minutes, want }) => {
    expect(laterAhead(said, MERGED_MS, MERGED_MS + minutes * MINUTE_MS)).toEqual(want);
  });

  it('is nothing where an earlier version remembered nothing', () => {
    expect(laterAhead({}, MERGED_MS, MERGED_MS)).toEqual([]);
  });
});

describe('the deadline of a rollout', () => {
  const groups = [
    { index: 0, name: 'canary', clusters: ['c1'] },
    { index: 1, name: 'rest', clusters: ['c2', 'c3'] },
  ];
  const textsOf = (strategy: Parameters<typeof forecastRollout>[0]['strategy']): readonly string[] => {
    const forecast = forecastRollout({ strategy, groups, done: new Set() });
    const subject = { kind: 'ManifestWorkReplicaSet', namespace: 'shop', name: 'web', placement: 'shop/web' };
    return laterRollouts({ rollouts: [{ ...subject, ...forecast }] }).map(({ text }) => text);
  };
  const counts = (clusters: string): string =>
    `ManifestWorkReplicaSet shop/web counts ${clusters} succeeded 10 minutes after the merge`;
  const later = ', and later batches 10 minutes after their start (progressDeadline)';
  const stops = (when: string): string => `; when ${when} failed, nothing new starts (maxFailures)`;

  it.each([
    {
      name: 'is a later change, with what it stops',
      strategy: { type: 'Progressive', progressive: { maxConcurrency: 1, progressDeadline: '10m' } },
      want: [`${counts('c1 as failed unless it has')}${later}${stops('one has')}`],
    },
    {
      name: 'says how many may fail',
      strategy: {
        type: 'Progressive',
        progressive: { maxConcurrency: 2, progressDeadline: '10m', maxFailures: '50%' },
      },
      want: [`${counts('c1, c2 as failed unless they have')}${later}${stops('more than 2 have')}`],
    },
    {
      name: 'says how many of a group may fail, and of which none',
      strategy: {
        type: 'ProgressivePerGroup',
        progressivePerGroup: {
          ...{ progressDeadline: '10m', maxFailures: '50%' },
          mandatoryDecisionGroups: [{ groupName: 'canary' }],
        },
      },
      want: [
        `${counts('c1 as failed unless it has')}${later}${stops('one of a mandatory group or more than 1 of a group has')}`,
      ],
    },
    {
      name: 'stops nothing in the only batch',
      strategy: { type: 'Progressive', progressive: { progressDeadline: '10m' } },
      want: [`${counts('c1, c2, c3 as failed unless they have')} (progressDeadline)`],
    },
    {
      name: 'is not said of what is after the horizon',
      strategy: { type: 'Progressive', progressive: { maxConcurrency: 1, progressDeadline: '48h' } },
      want: [],
    },
    {
      name: 'comes after the batches that wait',
      strategy: {
        type: 'Progressive',
        progressive: { maxConcurrency: 2, minSuccessTime: '5m', progressDeadline: '10m' },
      },
      want: [
        expect.stringContaining('reaches c3 at the earliest 5 minutes after the merge'),
        expect.stringContaining(counts('c1, c2 as failed unless they have')),
      ],
    },
  ] as const)('$name', ({ strategy, want }) => {
    expect(textsOf(strategy)).toEqual(want);
  });
});
