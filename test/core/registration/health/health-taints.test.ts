import { expect, it } from 'vitest';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import {
  planTaints,
  stampHealthTaints,
  withHealthTaints,
} from '../../../../src/core/registration/health/health-taints.ts';

const UNREACHABLE: Taint = { key: 'cluster.open-cluster-management.io/unreachable', effect: 'NoSelect' };
const UNAVAILABLE: Taint = { key: 'cluster.open-cluster-management.io/unavailable', effect: 'NoSelect' };
const OWN: Taint = { key: 'maintenance', effect: 'NoSelect', timeAdded: '2026-01-01T00:00:00Z' };

const CREATED = '2026-01-02T00:00:00Z';
const CHANGED = '2026-01-03T00:00:00Z';

function cluster(
  status: 'True' | 'False' | 'Unknown' | undefined,
  taints: readonly Taint[],
  deletionTimestamp?: string,
): ManagedCluster {
  const condition = { type: 'ManagedClusterConditionAvailable', reason: 'x', message: '' };
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name: 'c1', deletionTimestamp, creationTimestamp: CREATED },
    spec: { taints },
    status: {
      conditions: status === undefined ? [] : [{ ...condition, status, lastTransitionTime: CHANGED }],
    },
  };
}

it.each<[string, ManagedCluster, readonly Taint[] | undefined]>([
  ['a cluster that never reported', cluster(undefined, []), [UNREACHABLE]],
  ['a silent one', cluster('Unknown', [OWN]), [OWN, UNREACHABLE]],
  ['a silent one that was unavailable', cluster('Unknown', [UNAVAILABLE]), [UNREACHABLE]],
  ['one whose API server is down', cluster('False', [UNREACHABLE, OWN]), [OWN, UNAVAILABLE]],
  ['an available one', cluster('True', [UNREACHABLE, OWN, UNAVAILABLE]), [OWN]],
  ['one that has what it should have', cluster('Unknown', [UNREACHABLE]), undefined],
  ['an available one without taints', cluster('True', []), undefined],
  [
    'a taint of a user with that key and a value',
    cluster('True', [{ ...UNREACHABLE, value: 'mine' }]),
    undefined,
  ],
  [
    'a taint of a user with that key and another effect',
    cluster('True', [{ ...UNREACHABLE, effect: 'PreferNoSelect' }]),
    undefined,
  ],
  ['one that is being deleted', cluster('Unknown', [], '2026-01-01T00:00:00Z'), undefined],
])('plans the taints of %s', (_, given, want) => {
  expect(planTaints(given)).toEqual(want);
});

it('gives a time to its own taint where the hub gave none, and to no other', () => {
  const now = '2026-02-01T00:00:00Z';
  const mine: Taint = { key: 'maintenance', effect: 'NoSelect' };
  expect(stampHealthTaints(cluster('Unknown', [mine, { ...UNREACHABLE, timeAdded: null }]), now)).toEqual([
    mine,
    { ...UNREACHABLE, timeAdded: now },
  ]);
  expect(
    stampHealthTaints(cluster('Unknown', [mine, { ...UNREACHABLE, timeAdded: now }]), now),
  ).toBeUndefined();
});

it.each<[string, ManagedCluster, readonly Taint[]]>([
  [
    'one that never reported with its taint',
    cluster(undefined, [OWN]),
    [OWN, { ...UNREACHABLE, timeAdded: CREATED }],
  ],
  [
    'a taint without a time with the time since which the cluster is silent',
    cluster('Unknown', [UNREACHABLE, OWN]),
    [{ ...UNREACHABLE, timeAdded: CHANGED }, OWN],
  ],
  [
    'a time that the hub has set unchanged',
    cluster('Unknown', [{ ...UNREACHABLE, timeAdded: CREATED }]),
    [{ ...UNREACHABLE, timeAdded: CREATED }],
  ],
  [
    'one that has just fallen silent as it is: its tolerations begin with its taint',
    cluster('Unknown', []),
    [],
  ],
  ['one that is available as it is', cluster('True', [OWN]), [OWN]],
])('shows decisions %s', (_, given, want) => {
  expect(withHealthTaints(given).spec?.taints).toEqual(want);
});
