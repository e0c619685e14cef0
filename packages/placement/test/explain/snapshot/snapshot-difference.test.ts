import { expect, it } from 'vitest';
import { snapshotDifferences } from '../../../src/explain/snapshot/snapshot-difference.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Snapshot } from '../../../src/snapshot/snapshot.ts';

const cluster = (metadata: object, taint: object): ManagedCluster =>
  ({
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name: 'c1', ...metadata },
    spec: { taints: [taint] },
  }) as ManagedCluster;

const snapshot = (...clusters: readonly ManagedCluster[]): Snapshot => ({
  now: '2026-01-01T00:00:00Z',
  clusters,
  ...{ placements: [], clusterSets: [], bindings: [], decisions: [], scores: [] },
});

const first = cluster({ labels: { a: '1', b: '2' } }, { key: 'drain', effect: 'NoSelect' });

it.each([
  {
    name: 'the same with its fields in another order',
    then: cluster({ labels: { b: '2', a: '1' } }, { effect: 'NoSelect', key: 'drain' }),
    differs: [],
  },
  {
    name: 'another label',
    then: cluster({ labels: { a: '1', b: '3' } }, { key: 'drain', effect: 'NoSelect' }),
    differs: ['ManagedCluster c1'],
  },
])('of a cluster that is $name', ({ then, differs }) => {
  const found = snapshotDifferences(snapshot(first), snapshot(then));
  expect(found.map(({ object }) => object)).toEqual(differs);
  expect(found.map(({ undo }) => undo(snapshot(then)).clusters)).toEqual(differs.map(() => [first]));
});
