import { describe, expect, it } from 'vitest';
import { explainLostClusters } from '../../src/explain/explain-lost-clusters.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { ONE_BOUND_SET } from '../snapshots.ts';

const GROUP = 'cluster.open-cluster-management.io';
const cluster = (name: string, labels: Record<string, string>, taints: object[] = []): ManagedCluster =>
  ({
    apiVersion: `${GROUP}/v1`,
    kind: 'ManagedCluster',
    metadata: { name, labels: { [`${GROUP}/clusterset`]: 's', ...labels } },
    spec: { hubAcceptsClient: true, taints },
  }) as ManagedCluster;
const placement: Placement = {
  apiVersion: `${GROUP}/v1beta1`,
  kind: 'Placement',
  metadata: { name: 'web', namespace: 'team' },
  spec: {
    numberOfClusters: 1,
    predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { tier: 'gold' } } } }],
  },
};
const snapshot: Snapshot = {
  now: '2026-03-01T12:00:00Z',
  placements: [],
  clusters: [
    cluster('best', { tier: 'gold' }),
    cluster('second', { tier: 'gold' }),
    cluster('third', { tier: 'gold' }),
    cluster('drained', { tier: 'gold' }, [{ key: 'maintenance', effect: 'NoSelect' }]),
    cluster('silver', { tier: 'silver' }),
    cluster('elsewhere', { [`${GROUP}/clusterset`]: 'other', tier: 'gold' }),
  ],
  ...ONE_BOUND_SET,
};

describe('explainLostClusters', () => {
  it('says for each cluster what keeps it out, and puts together what is the same', () => {
    const lost = ['second', 'third', 'drained', 'silver', 'elsewhere', 'gone'];
    expect(explainLostClusters(snapshot, placement, lost)).toEqual([
      { because: 'others come first', clusters: ['second', 'third'] },
      { because: 'tainted maintenance', clusters: ['drained'] },
      { because: expect.stringMatching(/tier/) as string, clusters: ['silver'] },
      { because: 'not in cluster set s', clusters: ['elsewhere'] },
      { because: 'unknown to the fleet', clusters: ['gone'] },
    ]);
    expect(explainLostClusters(snapshot, placement, [])).toEqual([]);
  });

  it('says so when there is no set at all', () => {
    const [only] = explainLostClusters({ ...snapshot, bindings: [] }, placement, ['best']);
    expect(only).toEqual({ because: expect.stringMatching(/cluster set/) as string, clusters: ['best'] });
  });
});
