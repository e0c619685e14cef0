import { describe, expect, it } from 'vitest';
import { CLUSTER_SET_LABEL } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { snapshotOf } from '../snapshots.ts';
import { passing } from './passing.ts';

const API = 'cluster.open-cluster-management.io/v1beta2';
type Selector = NonNullable<ManagedClusterSet['spec']>['clusterSelector'];

/** `in-prod` has the label of the set `prod`, `eu` a label of its own, `gone` is `in-prod` but being deleted. */
const CLUSTERS = snapshotOf({
  clusters: [
    { name: 'eu', labels: { region: 'eu' } },
    { name: 'gone', labels: { [CLUSTER_SET_LABEL]: 'prod' } },
    { name: 'in-prod', labels: { [CLUSTER_SET_LABEL]: 'prod' } },
    { name: 'plain' },
  ],
}).clusters.map((cluster) =>
  cluster.metadata.name === 'gone'
    ? { ...cluster, metadata: { ...cluster.metadata, deletionTimestamp: '2026-03-01T11:00:00Z' } }
    : cluster,
);

interface Given {
  readonly sets: Readonly<Record<string, Selector>>;
  /** `namespace/set` */
  readonly bound: readonly string[];
  readonly clusterSets?: readonly string[];
}

function snapshotWith({ sets, bound, clusterSets }: Given): Snapshot {
  return {
    ...snapshotOf({ clusters: [], spec: clusterSets === undefined ? {} : { clusterSets } }),
    clusters: CLUSTERS,
    clusterSets: Object.entries(sets).map(([name, clusterSelector]) => ({
      apiVersion: API,
      kind: 'ManagedClusterSet',
      metadata: { name },
      spec: clusterSelector === undefined ? {} : { clusterSelector },
    })),
    bindings: bound.map((binding) => {
      const [namespace, name = ''] = binding.split('/');
      return { apiVersion: API, kind: 'ManagedClusterSetBinding', metadata: { name, namespace } };
    }),
  };
}

/** Of a later version of OCM. */
const ODD = 'Odd' as 'LabelSelector';
const EVERY: Selector = { selectorType: 'LabelSelector', labelSelector: {} };
const EU: Selector = { selectorType: 'LabelSelector', labelSelector: { matchLabels: { region: 'eu' } } };

describe('the filter of cluster sets', () => {
  it.each<{ name: string; given: Given; want: string }>([
    { name: 'no binding: nothing', given: { sets: { every: EVERY }, bound: [] }, want: '' },
    {
      name: 'a binding in another namespace: nothing',
      given: { sets: { every: EVERY }, bound: ['other/every'] },
      want: '',
    },
    {
      name: 'a binding of a set that is not there: nothing',
      given: { sets: {}, bound: ['team/every'] },
      want: '',
    },
    {
      name: 'every cluster but those being deleted',
      given: { sets: { every: EVERY }, bound: ['team/every'] },
      want: 'eu in-prod plain',
    },
    {
      name: 'a set without a selector holds what carries its label',
      given: { sets: { prod: undefined }, bound: ['team/prod'] },
      want: 'in-prod',
    },
    { name: 'a set by labels', given: { sets: { eu: EU }, bound: ['team/eu'] }, want: 'eu' },
    {
      name: 'a selector of an unknown type holds nothing',
      given: { sets: { odd: { selectorType: ODD, labelSelector: {} } }, bound: ['team/odd'] },
      want: '',
    },
    {
      name: 'all bound sets together',
      given: { sets: { prod: undefined, eu: EU }, bound: ['team/prod', 'team/eu'] },
      want: 'eu in-prod',
    },
    {
      name: 'only the sets that the placement names',
      given: { sets: { prod: undefined, eu: EU }, bound: ['team/prod', 'team/eu'], clusterSets: ['eu'] },
      want: 'eu',
    },
    {
      name: 'a set that the placement names and that is not bound: nothing',
      given: { sets: { prod: undefined, eu: EU }, bound: ['team/prod'], clusterSets: ['eu'] },
      want: '',
    },
  ])('$name', ({ given, want }) => {
    // A cluster that leaves its sets is given up: what was decided before makes no difference.
    expect(passing(snapshotWith(given), 'eligibility')).toEqual({ new: want, decided: want });
  });
});
