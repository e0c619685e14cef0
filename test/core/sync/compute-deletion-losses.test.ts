import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { judgeLosses } from '../../../src/core/sync/plan-prune.ts';
import {
  type Dependents,
  afterOthers,
  computeDeletionLosses,
} from '../../../src/core/sync/compute-deletion-losses.ts';

const CLUSTER = 'cluster.open-cluster-management.io';
const WORK = 'work.open-cluster-management.io';
/** `ref`: `name`, or `namespace/name`. */
const object = (apiVersion: string, kind: string, ref: string, rest: object = {}) => {
  const [name = '', namespace] = ref.split('/').reverse();
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    ...rest,
  } as KubeObject;
};
const clusterNames = Array.from({ length: 8 }, (_, at) => `c${at + 1}`);
const set = (name: string, labelSelector?: object) =>
  object(`${CLUSTER}/v1beta2`, 'ManagedClusterSet', name, {
    spec: { clusterSelector: labelSelector && { selectorType: 'LabelSelector', labelSelector } },
  });
const binding = (name: string) => object(`${CLUSTER}/v1beta2`, 'ManagedClusterSetBinding', `team-a/${name}`);
const placement = (rest: object = {}) =>
  object(`${CLUSTER}/v1beta1`, 'Placement', 'team-a/web', { spec: {}, ...rest });
const cluster = (name: string) => {
  const { metadata, ...rest } = object(`${CLUSTER}/v1`, 'ManagedCluster', name);
  return { ...rest, metadata: { ...metadata, labels: { [`${CLUSTER}/clusterset`]: 'prod' } } } as KubeObject;
};
const replicaSet = object(`${WORK}/v1alpha1`, 'ManifestWorkReplicaSet', 'team-a/web', {
  spec: { placementRefs: [{ name: 'web' }] },
});
const work = (namespace: string, name: string, owner?: string) => ({
  metadata: {
    namespace,
    name,
    ...(owner === undefined ? {} : { labels: { [`${WORK}/manifestworkreplicaset`]: owner } }),
  },
});
const ADDON = 'addon.open-cluster-management.io/v1alpha1';
const addOn = (name: string) => object(ADDON, 'ClusterManagementAddOn', name);
const addon = (cluster: string, name: string, owners = [{ kind: 'ClusterManagementAddOn', name }]) =>
  object(ADDON, 'ManagedClusterAddOn', `${cluster}/${name}`, {
    metadata: { namespace: cluster, name, ownerReferences: owners },
  });
const HELD = {
  status: { conditions: [{ type: 'berth.dev/Held', status: 'True', reason: 'WouldEmpty', message: '' }] },
};
const hub = (over: Partial<Record<keyof Dependents, readonly unknown[]>> = {}): Dependents =>
  ({
    placements: [placement()],
    clusters: clusterNames.map(cluster),
    clusterSets: [set('prod')],
    bindings: [binding('prod')],
    decisions: [
      {
        metadata: { namespace: 'team-a', name: 'web-1', labels: { [`${CLUSTER}/placement`]: 'web' } },
        status: { decisions: clusterNames.map((clusterName) => ({ clusterName, reason: '' })) },
      },
    ],
    replicaSets: [replicaSet],
    works: clusterNames.map((name) => work(name, 'web', 'team-a.web')),
    addons: [...clusterNames.map((name) => addon(name, 'hello')), addon('c1', 'other')],
    ...over,
  }) as unknown as Dependents;
const budget = { percent: 25, atLeast: 2 };
const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const judged = (objects: readonly KubeObject[], snapshot = hub()) =>
  judgeLosses(computeDeletionLosses(objects, snapshot), { budget, digest })?.text;
const two = clusterNames.slice(0, 2).map(cluster);
const three = clusterNames.slice(0, 3).map(cluster);
const all = 'c1, c2, c3, c4, c5, c6, c7, c8';

describe('what deletions take away', () => {
  it.each<{
    readonly name: string;
    readonly objects: readonly KubeObject[];
    readonly snapshot?: Dependents;
    readonly says: string | undefined;
  }>([
    {
      name: 'a placement: its pages',
      objects: [placement()],
      says: `Placement team-a/web takes away 8 of 8 clusters (budget 2): ${all}`,
    },
    {
      name: 'a replica set: its works',
      objects: [replicaSet],
      says: `ManifestWorkReplicaSet team-a/web takes away 8 of 8 works (budget 2): ${all}`,
    },
    {
      name: 'a set: the clusters of the placements that use it',
      objects: [set('prod')],
      says: `ManagedClusterSet prod takes away 8 of 8 clusters of Placement team-a/web (budget 2): ${all}`,
    },
    {
      name: 'a binding: the same',
      objects: [binding('prod')],
      says: `ManagedClusterSetBinding team-a/prod takes away 8 of 8 clusters of Placement team-a/web (budget 2): ${all}`,
    },
    {
      name: 'a set whose clusters are in another bound set as well: nothing',
      objects: [set('prod')],
      snapshot: hub({
        clusterSets: [set('prod'), set('all', {})],
        bindings: [binding('prod'), binding('all')],
      }),
      says: undefined,
    },
    {
      name: 'a set whose other set is not bound: its clusters',
      objects: [set('prod')],
      snapshot: hub({ clusterSets: [set('prod'), set('all', {})] }),
      says: `ManagedClusterSet prod takes away 8 of 8 clusters of Placement team-a/web (budget 2): ${all}`,
    },
    {
      name: 'both sets of the clusters together: the clusters that neither takes by itself',
      objects: [set('prod'), set('all', {})],
      snapshot: hub({
        clusterSets: [set('prod'), set('all', {})],
        bindings: [binding('prod'), binding('all')],
      }),
      says: `ManagedClusterSet all, ManagedClusterSet prod take away 8 of 8 clusters of Placement team-a/web (budget 2): ${all}`,
    },
    { name: 'as many clusters as the budget allows', objects: two, says: undefined },
    {
      name: 'more clusters than the budget allows',
      objects: three,
      says: 'ManagedCluster c1, ManagedCluster c2, ManagedCluster c3 take away 3 of 8 clusters of Placement team-a/web (budget 2): c1, c2, c3',
    },
    {
      name: 'one cluster of a held placement',
      objects: two.slice(0, 1),
      snapshot: hub({ placements: [placement(HELD)] }),
      says: 'ManagedCluster c1 takes away 1 of 8 clusters of Placement team-a/web (held: WouldEmpty): c1',
    },
    {
      name: 'a replica set with one work of a held placement',
      objects: [replicaSet],
      snapshot: hub({ placements: [placement(HELD)], works: [work('c1', 'web', 'team-a.web')] }),
      says: 'ManifestWorkReplicaSet team-a/web takes away 1 of 1 works (held: WouldEmpty): c1',
    },
    {
      name: 'a cluster with works that no replica set made',
      objects: two.slice(0, 1),
      snapshot: hub({ works: ['a', 'b', 'c'].map((name) => work('c1', name)) }),
      says: 'ManagedCluster c1 takes away 3 of 3 works (budget 2): c1',
    },
    {
      name: 'a cluster whose works are deleted themselves',
      objects: [
        ...two.slice(0, 1),
        ...['a', 'b', 'c'].map((name) => object(`${WORK}/v1`, 'ManifestWork', `c1/${name}`)),
      ],
      snapshot: hub({ works: ['a', 'b', 'c'].map((name) => work('c1', name)) }),
      says: undefined,
    },
    {
      name: 'the description of an add-on: the add-on of each cluster',
      objects: [addOn('hello'), addOn('other')],
      says: `ClusterManagementAddOn hello takes away 8 of 8 clusters (budget 2): ${all}`,
    },
    {
      name: 'the description of an add-on that owns none: nothing',
      objects: [addOn('hello')],
      snapshot: hub({ addons: clusterNames.map((name) => addon(name, 'hello', [])) }),
      says: undefined,
    },
    {
      name: 'the description of an add-on, with those of most clusters: the others',
      objects: [addOn('hello'), ...clusterNames.slice(2).map((name) => addon(name, 'hello'))],
      says: undefined,
    },
    {
      name: 'a namespace: what is in it',
      objects: [object('v1', 'Namespace', 'team-a')],
      says:
        `Namespace team-a takes away 8 of 8 clusters of Placement team-a/web (budget 2): ${all}; ` +
        `Namespace team-a takes away 8 of 8 works of ManifestWorkReplicaSet team-a/web (budget 2): ${all}`,
    },
    {
      name: 'anything else: nothing',
      objects: [object('v1', 'ConfigMap', 'team-a/x')],
      says: undefined,
    },
  ])('$name', ({ objects, snapshot, says }) => {
    expect(judged(objects, snapshot)).toBe(says);
  });

  it('is judged by the budget of the placement where it says one', () => {
    const { metadata, ...rest } = placement();
    const own = { ...rest, metadata: { ...metadata, annotations: { 'berth.dev/removal-budget': '8' } } };
    expect(judged([own as KubeObject], hub({ placements: [own] }))).toBeUndefined();
  });
});

describe('the hold of a placement that Berth does not decide', () => {
  const annotated = {
    metadata: { name: 'web', namespace: 'team-a', annotations: { 'berth.dev/scheduler': 'berth' } },
  };
  it.each([
    {
      name: 'counts where Berth decides all',
      placements: [placement(HELD)],
      decides: 'all' as const,
      held: 1,
    },
    { name: 'does not count', placements: [placement(HELD)], decides: 'own' as const, held: 0 },
    {
      name: 'counts if the placement is its own',
      placements: [placement({ ...HELD, ...annotated })],
      decides: 'own' as const,
      held: 1,
    },
  ])('$name', ({ placements, decides, held }) => {
    const losses = computeDeletionLosses([cluster('c1')], { ...hub({ placements }), decides });
    expect(losses.filter(({ heldFor }) => heldFor !== undefined)).toHaveLength(held);
  });
});

describe('what depends on others, without what is deleted elsewhere', () => {
  const holders = (deleted: readonly KubeObject[]) =>
    computeDeletionLosses(
      [binding('prod'), replicaSet],
      afterOthers(hub(), [{ deleted, withdrawn: [] }]),
    ).map(({ holder }) => holder);

  it('loses all of it where nothing is deleted elsewhere', () => {
    expect(holders([])).toEqual(['Placement team-a/web', 'ManifestWorkReplicaSet team-a/web']);
  });

  it.each([
    { gone: 'the placement', objects: [placement()], left: ['ManifestWorkReplicaSet team-a/web'] },
    { gone: 'the replica set', objects: [replicaSet], left: ['Placement team-a/web'] },
    { gone: 'their namespace', objects: [object('v1', 'Namespace', 'team-a')], left: [] },
    {
      gone: 'another placement',
      objects: [object(`${CLUSTER}/v1beta1`, 'Placement', 'team-b/web')],
      left: holders([]),
    },
  ])('loses nothing from $gone', ({ objects, left }) => {
    expect(holders(objects)).toEqual(left);
  });
});
