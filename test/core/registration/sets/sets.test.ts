import { describe, expect, it } from 'vitest';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import { planDefaultSet } from '@berth/ocm/registration/default-sets';
import {
  bindingCondition,
  planManagedNamespaces,
  setCondition,
} from '../../../../src/core/registration/cluster-sets.ts';

const LABEL = 'cluster.open-cluster-management.io/clusterset';

function cluster(name: string, labels: Record<string, string> = {}, status: object = {}): ManagedCluster {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name, labels },
    status,
  };
}

function set(name: string, spec: ManagedClusterSet['spec'] = {}, metadata: object = {}): ManagedClusterSet {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta2',
    kind: 'ManagedClusterSet',
    metadata: { name, ...metadata },
    spec,
  };
}

const LEAVING = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const CLUSTERS = [cluster('c1', { [LABEL]: 'a', zone: 'x' }), cluster('c2', { [LABEL]: 'b' })];

describe('the clusters of a set', () => {
  const selected = (labelSelector?: object): ManagedClusterSet['spec'] => ({
    clusterSelector: { selectorType: 'LabelSelector', labelSelector },
  });

  it.each([
    ['with the exclusive label', set('a'), 'False/ClustersSelected/1 ManagedClusters selected'],
    ['that no cluster names', set('z'), 'True/NoClusterMatched/No ManagedCluster selected'],
    [
      'by a selector',
      set('s', selected({ matchLabels: { zone: 'x' } })),
      'False/ClustersSelected/1 ManagedClusters selected',
    ],
    [
      'by the selector of everything',
      set('global', selected({})),
      'False/ClustersSelected/2 ManagedClusters selected',
    ],
    ['without a selector', set('n', selected()), 'True/NoClusterMatched/No ManagedCluster selected'],
  ])('are counted %s', (_, given, want) => {
    const { type, status, reason, message } = setCondition(given, CLUSTERS);
    expect(type).toBe('ClusterSetEmpty');
    expect(`${status}/${reason}/${message}`).toBe(want);
  });
});

it.each([
  [set('a'), 'True/ClusterSetBound'],
  [undefined, 'False/ClusterSetNotFound'],
])('says whether a binding is bound', (given, want) => {
  const { type, status, reason, message } = bindingCondition(given);
  expect([type, `${status}/${reason}`, message]).toEqual(['Bound', want, '']);
});

describe('a default set', () => {
  const right = { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } } as const;
  const wrong = {
    clusterSelector: { selectorType: 'LabelSelector', labelSelector: { matchLabels: { a: 'b' } } },
  } as const;

  it.each([
    ['is made when it is missing', 'global', undefined, 'create'],
    ['is restored when it was edited', 'global', set('global', wrong), 'restore'],
    ['stays as it is', 'global', set('global', { ...right, managedNamespaces: [{ name: 'n' }] }), undefined],
    [
      'stays edited where its user says so',
      'global',
      set('global', wrong, { annotations: { 'cluster.open-cluster-management.io/autoupdate': 'false' } }),
      undefined,
    ],
    ['that is being deleted is left alone', 'global', set('global', wrong, LEAVING), undefined],
    ['is no other set', 'a', undefined, undefined],
  ] as const)('%s', (_, name, given, want) => {
    expect(planDefaultSet(name, given)?.kind).toBe(want);
  });
});

describe('the managed namespaces of a cluster', () => {
  const sets = [
    set('b', {
      managedNamespaces: [{ name: 'z' }, { name: 'a' }],
      clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} },
    }),
    set('a', { managedNamespaces: [{ name: 'n' }] }),
    set('other', { managedNamespaces: [{ name: 'o' }] }),
    set('a', { managedNamespaces: [{ name: 'gone' }] }, LEAVING),
  ];
  const conditions = [
    { type: 'NamespaceAvailable', status: 'True', reason: 'NamespaceApplied', message: '' },
  ] as const;

  it('are those of all sets that select it, and keep what the agent reported', () => {
    const managedNamespaces = [
      { clusterSet: 'b', name: 'a', conditions },
      { clusterSet: 'old', name: 'x', conditions },
    ];
    const wanted = planManagedNamespaces(cluster('c1', { [LABEL]: 'a' }, { managedNamespaces }), sets);
    expect(wanted).toEqual([
      { clusterSet: 'a', name: 'n' },
      { clusterSet: 'b', name: 'a', conditions },
      { clusterSet: 'b', name: 'z' },
    ]);
    expect(
      planManagedNamespaces(cluster('c1', { [LABEL]: 'a' }, { managedNamespaces: wanted }), sets),
    ).toBeUndefined();
  });

  it('are left out of the status where there are none', () => {
    expect(planManagedNamespaces(cluster('c9'), [])).toBeUndefined();
  });
});
