import { beforeEach, describe, expect, it } from 'vitest';
import { DecisionSnapshots } from '../../../src/controllers/publication/decision-snapshots.ts';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

describe('DecisionSnapshots', () => {
  let isCommitPartial: boolean;
  let commitsBegun: number;
  let revision: number;
  let snapshotOf: Map<ScheduleResult, Snapshot>;
  let snapshots: DecisionSnapshots;
  beforeEach(() => {
    [isCommitPartial, commitsBegun, revision, snapshotOf] = [false, 1, 1, new Map()];
    snapshots = new DecisionSnapshots({
      barrier: {
        get isCommitPartial() {
          return isCommitPartial;
        },
        get commitsBegun() {
          return commitsBegun;
        },
      },
      revision: () => revision,
      snapshotOf: (result) => snapshotOf.get(result),
    });
  });
  /** A result that was decided from the hub as it is now. */
  const decidedNow = (decisions: readonly unknown[] = []) => {
    const [result, snapshot] = [
      {} as ScheduleResult,
      snapshots.noteCurrent({ decisions } as unknown as Snapshot),
    ];
    snapshotOf.set(result, snapshot);
    return result;
  };

  it('takes what was decided before a commit began, and while none is on its way', () => {
    const result = decidedNow();
    isCommitPartial = true;
    expect(snapshots.consistencyOf(result)).toBe('consistent');
  });

  it('takes what a commit consents to only after it was decided with the whole commit', () => {
    const result = decidedNow();
    expect(snapshots.consistencyInLastCommit(result)).toBe('consistent');
    [isCommitPartial, commitsBegun] = [true, 2];
    expect(snapshots.consistencyInLastCommit(result)).toBe('partial');
    isCommitPartial = false;
    expect(snapshots.consistencyInLastCommit(result)).toBe('outdated');
    expect(snapshots.consistencyInLastCommit(decidedNow())).toBe('consistent');
  });

  it('takes what a commit consents to and was decided half way, where only the last response was missing', () => {
    [isCommitPartial, commitsBegun] = [true, 2];
    const result = decidedNow();
    expect(snapshots.consistencyInLastCommit(result)).toBe('partial');
    isCommitPartial = false;
    expect(snapshots.consistencyInLastCommit(result)).toBe('consistent');
  });

  it('does not take what was decided half way, until the commit is there and only the last answer was missing', () => {
    isCommitPartial = true;
    const result = decidedNow();
    expect(snapshots.consistencyOf(result)).toBe('partial');
    isCommitPartial = false;
    expect(snapshots.consistencyOf(result)).toBe('consistent');
    [isCommitPartial, revision] = [true, 2];
    expect(snapshots.consistencyOf(result)).toBe('consistent');
  });

  it('does not take it when more came meanwhile', () => {
    isCommitPartial = true;
    const result = decidedNow();
    [isCommitPartial, revision] = [false, 2];
    expect(snapshots.consistencyOf(result)).toBe('outdated');
  });

  it('looks at the snapshot in which the transition began', () => {
    isCommitPartial = true;
    const start = snapshots.noteCurrent({} as Snapshot);
    isCommitPartial = false;
    const [result, end] = [{} as ScheduleResult, {} as Snapshot];
    snapshotOf.set(result, end);
    snapshots.decided(end, start);
    revision = 2;
    expect(snapshots.consistencyOf(result)).toBe('outdated');
  });

  it('takes what was decided from an unknown snapshot', () => {
    expect(snapshots.consistencyOf({} as ScheduleResult)).toBe('consistent');
    expect(snapshots.listedClusters('team-a/web', {} as ScheduleResult, ['c1'])).toBe(true);
  });

  it('knows what the pages of a placement listed when it was decided', () => {
    const page = {
      metadata: {
        namespace: 'team-a',
        labels: { 'cluster.open-cluster-management.io/placement': 'web' },
      },
      status: { decisions: [{ clusterName: 'c1' }] },
    };
    const result = decidedNow([page]);
    expect(snapshots.listedClusters('team-a/web', result, ['c1'])).toBe(true);
    expect(snapshots.listedClusters('team-a/web', result, ['c1', 'c2'])).toBe(false);
    expect(snapshots.listedClusters('team-a/api', result, ['c1'])).toBe(false);
  });
});
