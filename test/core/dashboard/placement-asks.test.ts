import type { Placement } from '@berth/ocm/kind/placement';
import { expect, it } from 'vitest';
import { placementAsks } from '../../../src/core/dashboard/placement-view.ts';

const asks = (spec: object | undefined) => placementAsks({ metadata: { name: 'web' }, spec } as Placement);
const labels = (matchLabels: object, more: object = {}) => ({
  requiredClusterSelector: { labelSelector: { matchLabels }, ...more },
});

it.each([
  [undefined, 'every cluster'],
  [{ numberOfClusters: 1, clusterSets: ['prod'] }, '1 cluster of set prod'],
  [
    { numberOfClusters: 3, clusterSets: ['a', 'b'], predicates: [labels({ region: 'eu', tier: 'gold' })] },
    '3 clusters of sets a, b with label region=eu, label tier=gold',
  ],
  [{ predicates: [{}, labels({})] }, 'every cluster'],
  [
    { predicates: [labels({ x: '1' }), labels({ y: '2' })] },
    'every cluster with label x=1; or with label y=2',
  ],
  [
    {
      numberOfClusters: 2,
      predicates: [
        labels(
          {},
          {
            claimSelector: {
              matchExpressions: [
                { key: 'platform', operator: 'In', values: ['aws', 'gcp'] },
                { key: 'gpu', operator: 'Exists' },
              ],
            },
            celSelector: { celExpressions: ['managedCluster.metadata.name != "c1"'] },
          },
        ),
      ],
    },
    '2 clusters with claim platform In (aws, gcp), claim gpu Exists, CEL managedCluster.metadata.name != "c1"',
  ],
])('%j asks for: %s', (spec, want) => {
  expect(asks(spec)).toBe(want);
});
