import { describe, expect, it } from 'vitest';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import { assumedSetNotes, withAssumedSets } from '../../../../src/core/registration/cluster-sets.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

const LABEL = 'cluster.open-cluster-management.io/clusterset';
const API = 'cluster.open-cluster-management.io/v1beta2';

function set(name: string, spec?: ManagedClusterSet['spec']): ManagedClusterSet {
  return { apiVersion: API, kind: 'ManagedClusterSet', metadata: { name }, spec };
}

function snapshot(given: {
  readonly sets?: readonly ManagedClusterSet[];
  readonly bound?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}): Snapshot {
  return {
    now: '2026-03-01T12:00:00Z',
    ...{ placements: [], decisions: [], scores: [] },
    clusterSets: given.sets ?? [],
    bindings: (given.bound ?? []).map((name) => ({
      ...{ apiVersion: API, kind: 'ManagedClusterSetBinding', metadata: { name, namespace: 'shop' } },
      spec: { clusterSet: name },
    })),
    clusters: [
      {
        ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
        metadata: { name: 'c1', ...(given.labels !== undefined && { labels: given.labels }) },
      },
    ],
  };
}

describe('the sets that every hub of OCM has', () => {
  const own = { clusterSelector: { selectorType: 'LabelSelector' as const, labelSelector: {} } };
  it.each([
    { name: 'are added', given: [], want: ['default ExclusiveClusterSetLabel', 'global LabelSelector'] },
    {
      name: 'are added beside others',
      given: [set('prod')],
      want: ['prod ', 'default ExclusiveClusterSetLabel', 'global LabelSelector'],
    },
    {
      name: 'are as they are declared',
      given: [set('default', own), set('global', {})],
      want: ['default LabelSelector', 'global '],
    },
  ])('$name', ({ given, want }) => {
    const { clusterSets } = withAssumedSets(snapshot({ sets: given }));
    expect(
      clusterSets.map(
        ({ metadata, spec }) => `${metadata.name} ${spec?.clusterSelector?.selectorType ?? ''}`,
      ),
    ).toEqual(want);
  });

  it.each([
    { name: 'no labels', labels: undefined, want: { [LABEL]: 'default' } },
    { name: 'other labels', labels: { a: 'b' }, want: { a: 'b', [LABEL]: 'default' } },
    { name: 'an empty label', labels: { [LABEL]: '' }, want: { [LABEL]: 'default' } },
    { name: 'a set of its own', labels: { [LABEL]: 'prod' }, want: { [LABEL]: 'prod' } },
  ])('hold a cluster with $name', ({ labels, want }) => {
    const given = snapshot(labels === undefined ? {} : { labels });
    const [cluster] = withAssumedSets(given).clusters;
    expect(cluster?.metadata.labels).toEqual(want);
    // The same object each time, so that it is not decided again.
    expect(withAssumedSets(given).clusters[0]).toBe(cluster);
  });

  it.each([
    { name: 'nothing is bound', given: {}, want: [] },
    {
      name: 'what is bound is declared',
      given: { sets: [set('prod'), set('global')], bound: ['prod', 'global'] },
      want: [],
    },
    {
      name: 'sets are bound and not declared',
      given: { sets: [set('prod')], bound: ['prod', 'global', 'edge', 'default'] },
      want: [
        'ManagedClusterSet default is bound and not declared here: it counts as OCM makes it on every hub, with the clusters that name no other set.',
        'ManagedClusterSet edge is bound and not declared here: without a hub it counts as absent, and selects nothing.',
        'ManagedClusterSet global is bound and not declared here: it counts as OCM makes it on every hub, with every cluster.',
      ],
    },
  ])('are named when $name', ({ given, want }) => {
    expect(assumedSetNotes(snapshot(given))).toEqual(want);
  });
});
