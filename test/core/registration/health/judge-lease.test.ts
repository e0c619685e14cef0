import { describe, expect, it } from 'vitest';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import {
  continuePresence,
  graceMs,
  type HubPresence,
  isKnownSilent,
  judgeClock,
  judgeLease,
  observeLease,
  overdueMs,
} from '../../../../src/core/registration/health/judge-lease.ts';

const WALL = Date.parse('2026-01-01T00:00:00Z');

function cluster(over: Partial<ManagedCluster> & { readonly leaseSeconds?: number } = {}): ManagedCluster {
  const { leaseSeconds = 10, ...rest } = over;
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name: 'c1' },
    spec: { leaseDurationSeconds: leaseSeconds },
    status: { conditions: [CLUSTER_CONDITIONS.accepted] },
    ...rest,
  };
}

const lease = (renewTime: string): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'managed-cluster-lease', namespace: 'c1' },
  spec: { renewTime },
});

const there = (sinceMs: number | undefined): HubPresence => ({
  last: { wallMs: WALL, monotonicMs: 0, sinceBootMs: 0, receivesLeases: true, lists: 1 },
  sinceMs,
});
const seen = (atMs: number, clockDifferenceMs?: number) => ({ renewTime: 'x', atMs, clockDifferenceMs });

describe('an agent', () => {
  it.each([
    [10, 50_000],
    [0, 300_000],
  ])('with leases of %i s has a grace of %i ms', (leaseSeconds, want) => {
    expect(graceMs(cluster({ leaseSeconds }))).toBe(want);
  });

  it.each([
    ['before its grace is over', 1_000, 0, 50_999, { kind: 'alive', recheckAfterMs: 1 }],
    ['when its grace is over', 1_000, 0, 51_000, { kind: 'silent' }],
    [
      'when the hub came back after its last renewal',
      1_000,
      40_000,
      60_000,
      { kind: 'alive', recheckAfterMs: 30_000 },
    ],
    ['while the hub does not hear', 1_000, undefined, 900_000, { kind: 'alive', recheckAfterMs: 50_000 }],
  ] as const)('%s', (...[, atMs, sinceMs, nowMs, want]) => {
    expect(judgeLease(cluster(), seen(atMs), there(sinceMs), nowMs)).toEqual(want);
  });

  it.each([
    [
      'of a cluster that the hub has not decided about is not looked at',
      cluster({ status: {} }),
      { kind: 'skip' },
    ],
    [
      'of a denied cluster gets a lease as well',
      cluster({ status: { conditions: [CLUSTER_CONDITIONS.denied] } }),
      { kind: 'create-lease' },
    ],
    ['without a lease gets one', cluster(), { kind: 'create-lease' }],
    [
      'of a cluster that is being deleted gets none',
      cluster({ metadata: { name: 'c1', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      { kind: 'silent' },
    ],
  ])('%s', (_, given, want) => {
    expect(judgeLease(given, undefined, there(0), 0)).toEqual(want);
  });

  it.each([
    ['that is a little late is not overdue', seen(1_000), there(0), 21_000, undefined],
    ['that missed a renewal is', seen(1_000), there(0), 21_001, 29_999],
    ['is not overdue when its grace is over', seen(1_000), there(0), 51_000, undefined],
    ['is not overdue soon after the hub came back', seen(1_000), there(40_000), 60_000, undefined],
    ['is not overdue while the hub does not hear', seen(1_000), there(undefined), 40_000, undefined],
    ['without a lease is not overdue', undefined, there(0), 40_000, undefined],
  ] as const)('%s', (...[, lastSeen, presence, nowMs, want]) => {
    expect(overdueMs(cluster(), lastSeen, presence, nowMs)).toBe(want);
  });

  it('is known to be silent once', () => {
    expect(isKnownSilent(cluster())).toBe(false);
    expect(isKnownSilent(cluster({ status: { conditions: [CLUSTER_CONDITIONS.leaseStopped] } }))).toBe(true);
  });
});

describe('what is seen of a lease', () => {
  const at = (ms: number) => ({ wallMs: WALL + ms, monotonicMs: ms });

  it('counts changes of the time, by the clock of the hub', () => {
    const first = observeLease(undefined, lease('2026-01-01T00:00:00.000000Z'), at(5));
    expect(first).toMatchObject({ atMs: 5, clockDifferenceMs: undefined });
    expect(observeLease(first, lease('2026-01-01T00:00:00.000000Z'), at(90))).toBe(first);
    const second = observeLease(first, lease('2026-01-01T00:00:07.000000Z'), at(10_000));
    expect(second).toMatchObject({ atMs: 10_000, clockDifferenceMs: 3_000 });
  });

  it.each(['', 'yesterday', '2026-13-01T00:00:00Z', '2025-12-31T23:00:00Z'])(
    'takes no clock from a time of %j',
    (renewTime) => {
      const first = observeLease(undefined, lease('2026-01-01T00:00:00.000000Z'), at(5));
      expect(observeLease(first, lease(renewTime), at(10)).clockDifferenceMs).toBeUndefined();
    },
  );
});

describe('clocks', () => {
  const skipped = cluster({
    metadata: {
      name: 'c1',
      annotations: { 'registration.open-cluster-management.io/skip-clock-sync-check': 'true' },
    },
  });

  it.each([
    ['agree within the grace', cluster(), 49_999, 0, 100_000, 'True'],
    ['differ by the grace', cluster(), 50_000, 0, 100_000, 'False'],
    ['differ into the future', cluster(), -50_000, 0, 100_000, 'False'],
    ['are not judged by a renewal that waited for the hub', cluster(), 60_000, 95_000, 100_000, undefined],
    ['are not compared where the cluster says so', skipped, 900_000, 0, 100_000, 'True'],
  ] as const)('%s', (...[, given, differenceMs, sinceMs, nowMs, want]) => {
    expect(judgeClock(given, seen(0, differenceMs), there(sinceMs), nowMs)?.status).toBe(want);
  });

  it('are not judged by the first sight of a lease', () => {
    expect(judgeClock(cluster(), seen(0), there(0), 0)).toBeUndefined();
  });
});

describe('the presence of the hub', () => {
  const look = (wallMs: number, monotonicMs: number, receivesLeases = true, lists = 1) => ({
    ...{ wallMs, monotonicMs, sinceBootMs: monotonicMs, receivesLeases, lists },
  });
  const afterSleep = (wallMs: number) => ({ ...look(wallMs, 2_000), sinceBootMs: 60_000 });

  it.each([
    ['goes on from look to look', look(2_000, 2_000), 0],
    ['begins again after a stop of the process', look(60_000, 60_000), 60_000],
    ['begins again after a sleep of the machine', look(60_000, 2_000), 2_000],
    ['begins again after a sleep, with the wall clock set back by as much', afterSleep(2_000), 2_000],
    ['begins again after a sleep, with the wall clock set back by more', afterSleep(-60_000), 2_000],
    ['goes on when the wall clock is set back', look(-60_000, 2_000), 0],
    ['begins again after a list, as after a restore of the hub', look(2_000, 2_000, true, 2), 2_000],
    ['ends when no leases are received', look(2_000, 2_000, false), undefined],
  ])('%s', (_, next, want) => {
    const before = continuePresence(undefined, look(0, 0));
    expect(before.sinceMs).toBe(0);
    expect(continuePresence(before, next).sinceMs).toBe(want);
  });

  it('begins again when leases are received again', () => {
    const deaf = continuePresence(continuePresence(undefined, look(0, 0)), look(2_000, 2_000, false));
    expect(continuePresence(deaf, look(4_000, 4_000)).sinceMs).toBe(4_000);
  });
});
