import { describe, expect, it } from 'vitest';
import { listAddons } from '../../../src/core/listing/list-addons.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Condition } from '@berth/kube/model/object-meta';

function condition(type: string, status: Condition['status'], reason = 'Because'): Condition {
  return { type, status, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
}

function cluster(available: readonly Condition[]): ManagedCluster {
  return {
    ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
    metadata: { name: 'c1' },
    status: { conditions: available },
  };
}

const ALIVE = cluster([condition('ManagedClusterConditionAvailable', 'True')]);
const SILENT = cluster([
  condition('ManagedClusterConditionAvailable', 'Unknown', 'ManagedClusterLeaseUpdateStopped'),
]);
const WORKS = [condition('Available', 'True')];

describe('the clusters of an add-on', () => {
  it.each([
    { name: 'available', clusters: [ALIVE], conditions: WORKS, want: ['c1', ''] },
    {
      name: 'not available',
      clusters: [ALIVE],
      conditions: [condition('Available', 'False', 'LeaseUpdateStopped')],
      want: ['', 'c1 (not available: LeaseUpdateStopped)'],
    },
    {
      name: 'unknown',
      clusters: [ALIVE],
      conditions: [condition('Available', 'Unknown', 'LeaseNotFound')],
      want: ['', 'c1 (unknown: LeaseNotFound)'],
    },
    { name: 'not reported', clusters: [ALIVE], conditions: [], want: ['', 'c1 (not reported yet)'] },
    {
      name: 'registered',
      clusters: [ALIVE],
      conditions: [condition('RegistrationApplied', 'True')],
      want: ['', 'c1 (registered, not reported yet)'],
    },
    {
      name: 'not registered',
      clusters: [ALIVE],
      conditions: [condition('RegistrationApplied', 'False', 'NoCertificate')],
      want: ['', 'c1 (not registered: NoCertificate)'],
    },
    {
      name: 'available by its status, on a cluster whose lease expired',
      clusters: [SILENT],
      conditions: WORKS,
      want: ['', 'c1 (unknown: the cluster is not available, ManagedClusterLeaseUpdateStopped)'],
    },
    {
      name: 'available by its status, on a cluster that has not joined',
      clusters: [cluster([])],
      conditions: WORKS,
      want: ['', 'c1 (unknown: the cluster has not joined)'],
    },
    {
      name: 'left behind by a cluster',
      clusters: [],
      conditions: WORKS,
      want: ['', 'c1 (there is no such cluster)'],
    },
  ])('say that it is $name', ({ clusters, conditions, want }) => {
    const installed = { metadata: { name: 'usage', namespace: 'c1' }, status: { conditions } };
    const other = { metadata: { name: 'other', namespace: 'c1' }, status: { conditions: WORKS } };
    const { rows } = listAddons([{ name: 'usage' }], [other, installed], clusters);
    expect(rows).toEqual([['usage', ...want]]);
  });

  it('say that it is being removed', () => {
    const metadata = { name: 'usage', namespace: 'c1', deletionTimestamp: '2026-01-01T00:00:00Z' };
    const { rows } = listAddons([{ name: 'usage' }], [{ metadata, status: { conditions: WORKS } }], [ALIVE]);
    expect(rows).toEqual([['usage', '', 'c1 (being removed)']]);
  });
});
