import { describe, expect, it } from 'vitest';
import { listAddons, listAddonsWide } from '../../../src/core/listing/list-clusters.ts';
import type { ConfigSpecHash } from '@berth/ocm/kind/addon';
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
      name: 'without a manager',
      clusters: [ALIVE],
      conditions: [condition('Managed', 'False', 'ManagerNotRunning'), ...WORKS],
      want: ['', 'c1 (nothing acts on it: ManagerNotRunning)'],
    },
    {
      name: 'not applied',
      clusters: [ALIVE],
      conditions: [
        condition('ManifestApplied', 'False', 'ManifestWorkApplyFailed'),
        condition('Available', 'Unknown', 'WorkNotFound'),
      ],
      want: ['', 'c1 (not applied: ManifestWorkApplyFailed)'],
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
    const { rows } = listAddons({ names: ['usage'], installed: [other, installed], clusters });
    expect(rows).toEqual([['usage', ...want]]);
  });

  it('say that it is being removed', () => {
    const metadata = { name: 'usage', namespace: 'c1', deletionTimestamp: '2026-01-01T00:00:00Z' };
    const { rows } = listAddons({
      names: ['usage'],
      installed: [{ metadata, status: { conditions: WORKS } }],
      clusters: [ALIVE],
    });
    expect(rows).toEqual([['usage', '', 'c1 (being removed)']]);
  });

  it('have a row each with -o wide, with the configurations that they have and shall have', () => {
    const reference = (resource: string, desired: object, applied?: object) => ({
      group: 'addon.open-cluster-management.io',
      resource,
      lastObservedGeneration: 1,
      desiredConfig: desired as ConfigSpecHash,
      lastAppliedConfig: applied as ConfigSpecHash,
    });
    const [v1, v2] = [
      { name: 'usage-1', specHash: 'a' },
      { name: 'usage-2', specHash: 'b' },
    ];
    const small = { namespace: 'team-a', name: 'small', specHash: 'c' };
    const installed = {
      metadata: { name: 'usage', namespace: 'c1' },
      status: {
        conditions: WORKS,
        namespace: 'agents',
        configReferences: [
          reference('addontemplates', v2, v1),
          reference('addondeploymentconfigs', small, small),
          reference('others', { ...v1, specHash: 'd' }, v1),
          reference('more', v1),
        ],
      },
    };
    const hub = { names: ['idle', 'usage'], installed: [installed], clusters: [ALIVE] };
    expect(listAddonsWide(hub, (name) => `chooser of ${name}`)).toEqual({
      header: ['NAME', 'CLUSTER', 'STATE', 'NAMESPACE', 'CONFIGURATION', 'CLUSTERS CHOSEN BY'],
      rows: [
        ['idle', '', 'on no cluster', '', '', 'chooser of idle'],
        [
          'usage',
          'c1',
          'available',
          'agents',
          'usage-2 (not yet, has usage-1), team-a/small, usage-1 (not yet, has an older one), usage-1 (not yet)',
          'chooser of usage',
        ],
      ],
    });
  });
});
