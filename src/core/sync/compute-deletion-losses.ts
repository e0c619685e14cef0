import { activeHold } from '../publish/approval/approval-code.ts';
import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  NAMESPACE,
  PLACEMENT,
} from '@berth/kube/model/kinds';
import { type ManifestWorkReplicaSet, REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import {
  formatRef,
  groupVersionOf,
  identityOf,
  namespacedName,
  objectIdentity,
  refOf,
} from '@berth/kube/model/object-ref';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import { isInSet, membershipOf } from '@berth/placement/filter/eligibility';
import { REMOVAL_BUDGET_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { parseRemovalBudget, type RemovalBudget } from '../publish/judge/removal-budget.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { ownerLabelValue } from '../work/replica-set/replica-set-child.ts';
import type { DeletionLoss } from './earlier-losses.ts';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import { groupBy } from '@berth/runtime/lists/group-by';

/** The objects on the hub that depend on objects to be deleted. */
export interface Dependents
  extends Pick<Snapshot, 'placements' | 'clusters' | 'clusterSets' | 'bindings' | 'decisions'> {
  readonly replicaSets: readonly ManifestWorkReplicaSet[];
  readonly works: readonly Pick<ManifestWork, 'metadata'>[];
  /** ManagedClusterAddOns. */
  readonly addons: readonly Pick<KubeObject, 'metadata'>[];
  /** The placements that Berth decides: those with its annotation, or all. Absent: all. */
  readonly decides?: 'own' | 'all' | undefined;
}

/** Kinds whose deletion removes clusters, works or add-ons. */
const WEIGHED_KINDS = [
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK_REPLICA_SET,
  NAMESPACE,
  PLACEMENT,
];

export function mayCauseLosses({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
  return WEIGHED_KINDS.some(
    (known) => known.kind === kind && known.group === groupVersionOf(apiVersion).group,
  );
}

/**
 * The clusters (published decisions) and ManifestWorks that are lost when these objects are deleted, for each holder.
 * A cluster that stays in another set that its placement may use is not lost. Works and add-ons that are deleted
 * themselves are counted as objects and not here.
 */
export function computeDeletionLosses(
  objects: readonly KubeObject[],
  hub: Dependents,
): readonly DeletionLoss[] {
  const deleted = new DeletedObjects(objects);
  const losses = [
    ...placementLosses(deleted, hub),
    ...replicaSetLosses(deleted, hub),
    ...clusterLosses(deleted, hub),
    ...addOnLosses(deleted, hub),
  ];
  return losses.filter(({ count }) => count > 0);
}

/** The objects that can have losses, in the form of `DeletionLoss.holder`. */
export function lossHolders({ placements, replicaSets, clusters, addons }: Dependents): readonly string[] {
  const names = (kind: KindInfo, objects: readonly { readonly metadata: ObjectMeta }[]): readonly string[] =>
    objects.map(({ metadata }) => holderOf(kind, metadata).holder);
  return [
    ...names(PLACEMENT, placements),
    ...names(MANIFEST_WORK_REPLICA_SET, replicaSets),
    ...names(MANAGED_CLUSTER, clusters),
    ...sortedOnce(
      addons.map(({ metadata: { name } }) => holderOf(CLUSTER_MANAGEMENT_ADDON, { name }).holder),
    ),
  ];
}

function holderOf(
  kind: KindInfo,
  { namespace = '', name }: Pick<ObjectMeta, 'namespace' | 'name'>,
): Pick<DeletionLoss, 'holder' | 'identity'> {
  const ref = { apiVersion: apiVersionOf(kind), kind: kind.kind, namespace, name };
  return { holder: formatRef(ref), identity: objectIdentity(ref) };
}

/** What another source deletes, and what of it stays on the hub without what Git applied. */
export interface LeftToOthers {
  readonly deleted: readonly KubeObject[];
  readonly withdrawn: readonly { readonly after: KubeObject }[];
}

/** The dependents as they are when other sources have deleted and given up their objects. */
export function afterOthers(hub: Dependents, others: readonly LeftToOthers[]): Dependents {
  if (others.length === 0) return hub;
  const deleted = new DeletedObjects(others.flatMap((one) => one.deleted));
  const given = new Map(
    others.flatMap(({ withdrawn }) => withdrawn.map(({ after }) => [identityOf(after), after] as const)),
  );
  const remaining = <T extends { readonly metadata: ObjectMeta }>(kind: KindInfo, all: readonly T[]) =>
    all
      .filter(({ metadata }) => deleted.causesOf(kind, metadata).length === 0)
      .map((object) => (given.get(holderOf(kind, object.metadata).identity) as T | undefined) ?? object);
  return {
    ...hub,
    placements: remaining(PLACEMENT, hub.placements),
    clusters: remaining(MANAGED_CLUSTER, hub.clusters),
    clusterSets: remaining(MANAGED_CLUSTER_SET, hub.clusterSets),
    bindings: remaining(MANAGED_CLUSTER_SET_BINDING, hub.bindings),
    replicaSets: remaining(MANIFEST_WORK_REPLICA_SET, hub.replicaSets),
    works: remaining(MANIFEST_WORK, hub.works),
    addons: remaining(MANAGED_CLUSTER_ADDON, hub.addons).filter(
      ({ metadata: { name } }) => deleted.causesOf(CLUSTER_MANAGEMENT_ADDON, { name }).length === 0,
    ),
  };
}

/** Objects that are deleted, and which other objects their deletion deletes. */
class DeletedObjects {
  readonly #names: ReadonlyMap<string, string>;

  constructor(objects: readonly KubeObject[]) {
    this.#names = new Map(objects.map((object) => [objectIdentity(refOf(object)), formatRef(refOf(object))]));
  }

  /** The deleted objects that delete this one: the object itself, and its namespace. */
  causesOf(kind: KindInfo, { namespace = '', name }: Pick<ObjectMeta, 'namespace' | 'name'>): string[] {
    return [this.#find(kind, namespace, name), this.#find(NAMESPACE, '', namespace)].filter(
      (cause) => cause !== undefined,
    );
  }

  /** Whether the object itself is deleted. */
  has(kind: KindInfo, { namespace = '', name }: Pick<ObjectMeta, 'namespace' | 'name'>): boolean {
    return this.#find(kind, namespace, name) !== undefined;
  }

  #find(info: KindInfo, namespace: string, name: string): string | undefined {
    return this.#names.get(
      objectIdentity({ apiVersion: apiVersionOf(info), kind: info.kind, namespace, name }),
    );
  }
}

function placementLosses(deleted: DeletedObjects, hub: Dependents): readonly DeletionLoss[] {
  const published = publishedClusters(hub.decisions);
  const causesOfCluster = new Map(
    hub.clusters.map(({ metadata }) => [metadata.name, deleted.causesOf(MANAGED_CLUSTER, metadata)]),
  );
  const routes = new ClusterRoutes(deleted, hub);
  return hub.placements.map((placement) => {
    const clusters = published.get(namespacedName(placement.metadata)) ?? new Set();
    const own = deleted.causesOf(PLACEMENT, placement.metadata);
    const lost = new Map<string, readonly string[]>();
    const causesOfSets = own.length > 0 ? () => [] : routes.causesFor(placement);
    for (const cluster of clusters) {
      const causes = [...own, ...(causesOfCluster.get(cluster) ?? []), ...causesOfSets(cluster)];
      if (causes.length > 0) lost.set(cluster, causes);
    }
    return {
      ...holderOf(PLACEMENT, placement.metadata),
      by: sortedOnce([...lost.values()].flat()),
      what: 'clusters',
      count: lost.size,
      of: clusters.size,
      clusters: [...lost.keys()].sort(),
      budget: budgetIn(placement.metadata),
      heldFor: holdOf(placement, hub),
    };
  });
}

/** The sets through which a placement reaches its clusters, and which of them the deletions remove. */
class ClusterRoutes {
  readonly #deleted: DeletedObjects;
  readonly #hub: Dependents;
  readonly #sets: ReadonlyMap<string, ReturnType<typeof membershipOf>>;
  readonly #clusters: ReadonlyMap<string, Snapshot['clusters'][number]>;

  constructor(deleted: DeletedObjects, hub: Dependents) {
    this.#deleted = deleted;
    this.#hub = hub;
    this.#sets = new Map(hub.clusterSets.map((set) => [set.metadata.name, membershipOf(set)]));
    this.#clusters = new Map(hub.clusters.map((cluster) => [cluster.metadata.name, cluster]));
  }

  /** @returns for a cluster, the deletions that make it unreachable for the placement; none while one set remains */
  causesFor({ metadata, spec }: Placement): (cluster: string) => readonly string[] {
    const wanted = spec?.clusterSets ?? [];
    const routes = this.#hub.bindings
      .filter((binding) => (binding.metadata.namespace ?? '') === (metadata.namespace ?? ''))
      .filter(({ metadata: { name } }) => wanted.length === 0 || wanted.includes(name))
      .flatMap((binding) => {
        const { name } = binding.metadata;
        const membership = this.#sets.get(name);
        const causes = [
          ...this.#deleted.causesOf(MANAGED_CLUSTER_SET_BINDING, binding.metadata),
          ...this.#deleted.causesOf(MANAGED_CLUSTER_SET, { name }),
        ];
        return membership === undefined ? [] : [{ membership, causes }];
      });
    if (routes.every(({ causes }) => causes.length === 0)) return () => [];
    return (name) => {
      const cluster = this.#clusters.get(name);
      const reaching =
        cluster === undefined ? [] : routes.filter(({ membership }) => isInSet(cluster, membership));
      return reaching.some(({ causes }) => causes.length === 0)
        ? []
        : reaching.flatMap(({ causes }) => causes);
    };
  }
}

function replicaSetLosses(deleted: DeletedObjects, hub: Dependents): readonly DeletionLoss[] {
  const held = new Map(
    hub.placements.map((placement) => [namespacedName(placement.metadata), holdOf(placement, hub)]),
  );
  const worksOf = worksByOwner(hub.works);
  return hub.replicaSets.map(({ metadata, spec }) => {
    const causes = deleted.causesOf(MANIFEST_WORK_REPLICA_SET, metadata);
    const works = worksOf.get(ownerLabelValue(metadata)) ?? [];
    const lost = causes.length === 0 ? [] : works;
    const { namespace = '' } = metadata;
    return {
      ...holderOf(MANIFEST_WORK_REPLICA_SET, metadata),
      by: sortedOnce(causes),
      what: 'works',
      count: lost.length,
      of: works.length,
      clusters: clustersOf(lost),
      budget: budgetIn(metadata),
      heldFor: spec.placementRefs
        .map((placement) => held.get(namespacedName({ namespace, name: placement.name })))
        .find((reason) => reason !== undefined),
    };
  });
}

/** Works that no replica set made. Those of replica sets are lost with the clusters of their placements. */
function clusterLosses(deleted: DeletedObjects, { clusters, works }: Dependents): readonly DeletionLoss[] {
  return clusters.flatMap(({ metadata }) => {
    const { name } = metadata;
    const causes = [...deleted.causesOf(MANAGED_CLUSTER, metadata), ...deleted.causesOf(NAMESPACE, { name })];
    if (causes.length === 0) return [];
    const lost = works
      .filter(
        (work) => work.metadata.namespace === name && work.metadata.labels?.[REPLICA_SET_LABEL] === undefined,
      )
      .filter((work) => !deleted.has(MANIFEST_WORK, work.metadata));
    return [
      {
        ...holderOf(MANAGED_CLUSTER, metadata),
        by: sortedOnce(causes),
        what: 'works' as const,
        count: lost.length,
        of: lost.length,
        clusters: clustersOf(lost),
        budget: undefined,
        heldFor: undefined,
      },
    ];
  });
}

/** Kubernetes deletes the add-ons of all clusters with the ClusterManagementAddOn that owns them. */
function addOnLosses(deleted: DeletedObjects, { addons }: Dependents): readonly DeletionLoss[] {
  const owned = addons.filter(({ metadata: { name, ownerReferences = [] } }) =>
    ownerReferences.some((owner) => owner.kind === CLUSTER_MANAGEMENT_ADDON.kind && owner.name === name),
  );
  return [...groupBy(owned, ({ metadata }) => metadata.name)].map(([name, all]) => {
    const causes = deleted.causesOf(CLUSTER_MANAGEMENT_ADDON, { name });
    const lost =
      causes.length === 0 ? [] : all.filter(({ metadata }) => !deleted.has(MANAGED_CLUSTER_ADDON, metadata));
    return {
      ...holderOf(CLUSTER_MANAGEMENT_ADDON, { name }),
      by: sortedOnce(causes),
      what: 'clusters',
      count: lost.length,
      of: all.length,
      clusters: clustersOf(lost),
      budget: undefined,
      heldFor: undefined,
    };
  });
}

/** Why the next decision is held. A placement that Berth does not decide any more shows its last hold for a moment. */
function holdOf(placement: Placement, { decides }: Pick<Dependents, 'decides'>): string | undefined {
  const isDecided = decides !== 'own' || placement.metadata.annotations?.[SCHEDULER_ANNOTATION] === 'berth';
  return isDecided ? activeHold(placement)?.reason : undefined;
}

/** By `namespace/name` of the placement. */
function publishedClusters(decisions: Snapshot['decisions']): ReadonlyMap<string, ReadonlySet<string>> {
  const published = new Map<string, Set<string>>();
  for (const { metadata, status } of decisions) {
    const key = `${metadata.namespace ?? ''}/${metadata.labels?.[PLACEMENT_LABEL] ?? ''}`;
    const clusters = published.get(key) ?? new Set();
    published.set(key, clusters);
    for (const { clusterName } of status?.decisions ?? []) clusters.add(clusterName);
  }
  return published;
}

function worksByOwner(works: Dependents['works']): ReadonlyMap<string, Dependents['works']> {
  return groupBy(works, ({ metadata }) => metadata.labels?.[REPLICA_SET_LABEL] ?? '');
}

function budgetIn({ annotations }: Pick<ObjectMeta, 'annotations'>): RemovalBudget | undefined {
  return parseRemovalBudget(annotations?.[REMOVAL_BUDGET_ANNOTATION] ?? '');
}

function clustersOf(works: readonly Pick<KubeObject, 'metadata'>[]): readonly string[] {
  return sortedOnce(works.map(({ metadata }) => metadata.namespace ?? ''));
}

function sortedOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
