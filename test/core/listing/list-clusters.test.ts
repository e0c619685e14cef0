import { expect, it } from 'vitest';
import { listClusters } from '../../../src/core/listing/list-clusters.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';

const deleting = (reason: string) => ({ type: 'Deleting', status: 'False', reason, message: '' });
const cluster = (name: string, isDeleted: boolean, conditions: readonly object[] = []) =>
  ({
    metadata: { name, ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    status: { conditions },
  }) as unknown as ManagedCluster;

it.each([
  {
    name: 'nothing of deletions where there is none',
    clusters: [cluster('edge1', false)],
    want: [undefined],
  },
  {
    name: 'which clusters are being deleted, and what holds them',
    clusters: [
      cluster('edge1', false),
      cluster('edge2', true),
      cluster('edge3', true, [deleting('RemovalHeld')]),
      cluster('edge4', true, [deleting('StillSelected')]),
    ],
    want: ['', 'yes', 'held (RemovalHeld)', 'StillSelected'],
  },
])('berth get clusters shows $name', ({ clusters, want }) => {
  const { header, rows } = listClusters(clusters);
  expect(rows.map((row) => row[header.indexOf('DELETING')])).toEqual(want);
});
