import { expect, it } from 'vitest';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { snapshotDigests } from '../../../../src/core/preview/sides/snapshot-digests.ts';
import { sha256 } from '@berth/runtime/sha256';
import { snapshotOf } from '../../../../packages/placement/test/snapshots.ts';

const page = (placement: string, ...clusters: string[]): PlacementDecision => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'PlacementDecision',
  metadata: {
    name: `${placement}-decision-1`,
    namespace: 'team-a',
    labels: { [PLACEMENT_LABEL]: placement },
  },
  ...(clusters.length > 0 && {
    status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
  }),
});

const digestOf = (...decisions: PlacementDecision[]): string =>
  snapshotDigests({ ...snapshotOf({ clusters: [] }), decisions }, sha256).decisions;

it('depends on the clusters that are published for each placement', () => {
  expect(digestOf(page('web', 'c1'))).not.toBe(digestOf(page('web', 'c2')));
  expect(digestOf(page('web', 'c1'))).not.toBe(digestOf(page('api', 'c1')));
  expect(digestOf(page('api', 'c2'), page('web', 'c1'))).toBe(digestOf(page('web', 'c1'), page('api', 'c2')));
});

it('is the same without a page and with an empty one', () => {
  expect(digestOf(page('web', 'c1'), page('gone'))).toBe(digestOf(page('web', 'c1')));
});
