import { describe, expect, it } from 'vitest';
import { MANAGED_CLUSTER_ADDON, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import {
  finalizersWithoutAgent,
  keptOnCluster,
  signOfLife,
} from '../../../../src/core/registration/cluster-deletion.ts';

const NOW_MS = Date.parse('2026-01-01T12:00:00Z');

describe('whether a cluster shows signs of life', () => {
  const cluster = (available: string | undefined, leaseDurationSeconds?: number): ManagedCluster => {
    const condition = {
      type: 'ManagedClusterConditionAvailable',
      status: available,
      reason: '',
      message: '',
    };
    const conditions = available === undefined ? [] : [condition];
    const typed = { apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' };
    const spec = { leaseDurationSeconds };
    return {
      ...typed,
      metadata: { name: 'edge' },
      spec,
      status: { conditions },
    } as unknown as ManagedCluster;
  };
  const lease = (renewTime: string): KubeObject => ({
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'lease' } },
    spec: { renewTime },
  });
  it.each([
    ['an old Lease, and unknown', 'Unknown', 60, '2026-01-01T11:54:59.000000Z', undefined],
    ['an old Lease, and not available', 'False', 60, '2026-01-01T11:00:00.000000Z', undefined],
    ['no Lease at all, and never available', undefined, 60, undefined, undefined],
    ['a Lease with no time', 'Unknown', 60, '', undefined],
    [
      'available, though its Lease is old',
      'True',
      60,
      '2026-01-01T09:00:00.000000Z',
      'reports it as available',
    ],
    [
      'a Lease of five intervals ago less a second',
      'Unknown',
      60,
      '2026-01-01T11:55:01.000000Z',
      '300 s ago',
    ],
    ['a Lease of a clock that is ahead', 'Unknown', 60, '2026-01-01T15:00:00.000000Z', 'renewed its Lease'],
    ['longer intervals of its own', 'Unknown', 600, '2026-01-01T11:20:00.000000Z', '3000 s ago'],
    ['no interval, which means 60 s', 'Unknown', undefined, '2026-01-01T11:58:00.000000Z', '300 s ago'],
  ])('%s', (...[, available, seconds, renewTime, want]) => {
    const sign = signOfLife(
      cluster(available, seconds),
      renewTime === undefined ? undefined : lease(renewTime),
      NOW_MS,
    );
    if (want === undefined) expect(sign).toBeUndefined();
    else expect(sign).toContain(want);
  });
});

describe('what waits for the agent', () => {
  const WORK = 'cluster.open-cluster-management.io/manifest-work-cleanup';
  const HOOKS = 'addon.open-cluster-management.io/addon-pre-delete';
  it.each([
    ['a work that is being deleted', true, [WORK], []],
    ['a work that somebody else waits for, too', true, ['example.com/backup', WORK], ['example.com/backup']],
    ['an add-on with hooks', true, [HOOKS], []],
    ['a work that nobody deletes', false, [WORK], undefined],
    ['a work that only somebody else waits for', true, ['example.com/backup'], undefined],
    ['an object without finalizers', true, undefined, undefined],
  ])('%s', (_title, isDeleted, finalizers, want) => {
    const deletionTimestamp = isDeleted ? '2026-01-01T00:00:00Z' : undefined;
    const metadata = { name: 'web', finalizers, deletionTimestamp };
    expect(finalizersWithoutAgent({ apiVersion: 'v1', kind: 'X', metadata })).toEqual(want);
  });
});

it('names what a cluster keeps of a work, and that the hooks of an add-on did not run', () => {
  const manifests = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'web' } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'web' } },
  ];
  const object = { apiVersion: '', kind: '', metadata: { name: 'shop' }, spec: { workload: { manifests } } };
  expect(keptOnCluster(MANIFEST_WORK, object)).toBe('ManifestWork shop: Namespace web, Deployment web/web');
  expect(keptOnCluster(MANAGED_CLUSTER_ADDON, object)).toBe(
    'ManagedClusterAddOn shop: its hooks before the deletion did not run',
  );
});
