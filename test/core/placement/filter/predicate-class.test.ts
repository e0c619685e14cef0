import { describe, expect, it } from 'vitest';
import type { ClusterPredicate } from '@berth/ocm/kind/placement';
import { snapshotOf } from '../../../../packages/placement/test/snapshots.ts';
import { passing } from '../../../../packages/placement/test/filter/passing.ts';

const CLUSTERS = [
  { name: 'eu-big', labels: { region: 'eu', size: 'big' }, claims: { cloud: 'aws' } },
  { name: 'eu-small', labels: { region: 'eu' }, claims: { cloud: 'gcp' } },
  { name: 'us', labels: { region: 'us' }, claims: { cloud: 'aws' }, score: 7 },
];

const eu: ClusterPredicate = {
  requiredClusterSelector: { labelSelector: { matchLabels: { region: 'eu' } } },
};
const claim = (operator: string, values?: readonly string[]): ClusterPredicate => ({
  requiredClusterSelector: {
    claimSelector: { matchExpressions: [{ key: 'cloud', operator, ...(values && { values }) }] },
  },
});
const cel = (...celExpressions: readonly string[]): ClusterPredicate => ({
  requiredClusterSelector: { celSelector: { celExpressions } },
});

describe('the filter of predicates', () => {
  it.each<{ name: string; given: readonly ClusterPredicate[]; want: string }>([
    { name: 'no predicates: every cluster', given: [], want: 'eu-big eu-small us' },
    { name: 'a predicate without a selector: every cluster', given: [{}], want: 'eu-big eu-small us' },
    { name: 'labels', given: [eu], want: 'eu-big eu-small' },
    { name: 'claims', given: [claim('In', ['aws'])], want: 'eu-big us' },
    { name: 'claims that must not be there', given: [claim('DoesNotExist')], want: '' },
    {
      name: 'labels and claims of one predicate must both hold',
      given: [
        {
          requiredClusterSelector: {
            ...eu.requiredClusterSelector,
            ...claim('In', ['aws']).requiredClusterSelector,
          },
        },
      ],
      want: 'eu-big',
    },
    {
      name: 'one of several predicates is enough',
      given: [claim('In', ['gcp']), cel('managedCluster.metadata.name == "us"')],
      want: 'eu-small us',
    },
    { name: 'CEL', given: [cel('managedCluster.metadata.labels["region"] == "us"')], want: 'us' },
    {
      name: 'CEL expressions of one predicate must all hold',
      given: [
        cel('managedCluster.metadata.labels["region"] == "eu"', 'has(managedCluster.metadata.labels.size)'),
      ],
      want: 'eu-big',
    },
    {
      name: 'CEL that fails at a cluster refuses it',
      given: [cel('managedCluster.metadata.labels["size"] == "big"')],
      want: 'eu-big',
    },
    {
      name: 'CEL on scores',
      given: [cel('managedCluster.scores("load").exists(one, one.value > 5)')],
      want: 'us',
    },
    {
      name: 'a predicate that does not build refuses every cluster',
      given: [eu, claim('Like', ['a'])],
      want: '',
    },
  ])('$name', ({ given, want }) => {
    const snapshot = snapshotOf({ clusters: CLUSTERS, spec: { predicates: given } });
    expect(passing(snapshot, 'predicate')).toEqual({ new: want, decided: want });
  });
});
