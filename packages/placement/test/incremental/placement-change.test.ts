import { describe, expect, it } from 'vitest';
import type { Placement } from '@berth/ocm/kind/placement';
import { placementChange } from '../../src/incremental/placement-change.ts';

const placement = (
  spec: Placement['spec'] = {},
  metadata: Partial<Placement['metadata']> = {},
): Placement => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { name: 'web', namespace: 'a', ...metadata },
  spec,
});
const annotated = (key: string, value: string) => placement({}, { annotations: { [key]: value } });

describe('what a change of a placement means for scheduling', () => {
  it.each([
    { name: 'a copy', after: placement(), want: 'none' },
    { name: 'a label', after: placement({}, { labels: { tier: 'web' } }), want: 'none' },
    { name: 'an annotation of others', after: annotated('example.org/owner', 'x'), want: 'none' },
    { name: 'another number of clusters', after: placement({ numberOfClusters: 2 }), want: 'limit' },
    { name: 'another set', after: placement({ clusterSets: ['prod'] }), want: 'other' },
    {
      name: 'a deletion',
      after: placement({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      want: 'other',
    },
    {
      name: 'scheduling disabled',
      after: annotated('cluster.open-cluster-management.io/experimental-scheduling-disable', 'true'),
      want: 'other',
    },
    {
      name: 'ties broken by taint',
      after: annotated('berth.dev/prefer-no-select', 'tie-break'),
      want: 'other',
    },
    {
      name: 'another rule for missing scores',
      after: annotated('berth.dev/missing-scores', 'worst'),
      want: 'other',
    },
  ])('$name: $want', ({ after, want }) => {
    expect(placementChange(placement(), after)).toBe(want);
  });

  it('compares specs by their content', () => {
    const spec = () => ({ clusterSets: ['prod'], numberOfClusters: 2 });
    expect(placementChange(placement(spec()), placement(spec()))).toBe('none');
  });
});
