import type { Condition } from '@berth/kube/model/object-meta';
import type { ManagedCluster, ManagedNamespaceStatus } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import { DEFAULT_SETS, inDefaultSet, planDefaultSet } from '@berth/ocm/registration/default-sets';
import { isInSet, membershipOf } from '@berth/placement/filter/eligibility';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { jsonEqual } from '@berth/runtime/json/json-equal';

/** One object for each set, since decisions are made again when an object changes. */
const SETS: readonly ManagedClusterSet[] = [...DEFAULT_SETS.keys()].flatMap((name) => {
  const plan = planDefaultSet(name, undefined);
  return plan?.kind === 'create' ? [plan.set] : [];
});

/**
 * Adds to a snapshot that was read without a hub what every hub of OCM has by itself: the default sets that are not
 * declared, and the label of the set `default` on each cluster that names no set.
 */
export function withAssumedSets(snapshot: Snapshot): Snapshot {
  const declared = declaredSets(snapshot);
  const missing = SETS.filter(({ metadata }) => !declared.has(metadata.name));
  return {
    ...snapshot,
    clusterSets: missing.length === 0 ? snapshot.clusterSets : [...snapshot.clusterSets, ...missing],
    clusters: snapshot.clusters.map(inDefaultSet),
  };
}

const MEMBERS: Readonly<Record<string, string>> = {
  default: 'the clusters that name no other set',
  global: 'every cluster',
};

/**
 * What a result without a hub rests on, one sentence for each set that is bound and not declared.
 * @param declared the snapshot of the declared objects, without assumed sets
 */
export function assumedSetNotes(declared: Snapshot): readonly string[] {
  const known = declaredSets(declared);
  const bound = new Set(declared.bindings.map(({ spec }) => spec?.clusterSet ?? ''));
  return [...bound]
    .filter((name) => name !== '' && !known.has(name))
    .sort()
    .map((name) =>
      DEFAULT_SETS.has(name)
        ? `ManagedClusterSet ${name} is bound and not declared here: it counts as OCM makes it on every hub, with ${MEMBERS[name]}.`
        : `ManagedClusterSet ${name} is bound and not declared here: without a hub it counts as absent, and selects nothing.`,
    );
}

function declaredSets({ clusterSets }: Snapshot): ReadonlySet<string> {
  return new Set(clusterSets.map(({ metadata }) => metadata.name));
}

/**
 * The namespaces that the agent of a cluster must create for the sets of the cluster, sorted by set and name. The
 * agent's reports about remaining ones are kept. Undefined if the status is up to date.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/managedcluster/managed_namespace_controller.go`.
 */
export function planManagedNamespaces(
  cluster: ManagedCluster,
  sets: readonly ManagedClusterSet[],
): readonly ManagedNamespaceStatus[] | undefined {
  const before = cluster.status?.managedNamespaces ?? [];
  const wanted = sets
    .filter((set) => set.metadata.deletionTimestamp === undefined && isInSet(cluster, membershipOf(set)))
    .flatMap((set) =>
      (set.spec?.managedNamespaces ?? []).map(({ name }) => ({ clusterSet: set.metadata.name, name })),
    )
    .sort((a, b) => compare(a.clusterSet, b.clusterSet) || compare(a.name, b.name))
    .map((entry) => {
      const known = before.find(
        ({ clusterSet, name }) => clusterSet === entry.clusterSet && name === entry.name,
      );
      return known?.conditions === undefined ? entry : { ...entry, conditions: known.conditions };
    });
  return jsonEqual(wanted, before) ? undefined : wanted;
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/**
 * How many clusters a set selects.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/managedclusterset/controller.go`.
 */
export function setCondition(set: ManagedClusterSet, clusters: readonly ManagedCluster[]): Condition {
  const membership = membershipOf(set);
  const count = clusters.filter((cluster) => isInSet(cluster, membership)).length;
  return count === 0
    ? {
        type: 'ClusterSetEmpty',
        status: 'True',
        reason: 'NoClusterMatched',
        message: 'No ManagedCluster selected',
      }
    : {
        type: 'ClusterSetEmpty',
        status: 'False',
        reason: 'ClustersSelected',
        message: `${count} ManagedClusters selected`,
      };
}

/**
 * Whether the set of a binding exists.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/managedclustersetbinding/controller.go`.
 */
export function bindingCondition(set: ManagedClusterSet | undefined): Condition {
  return set === undefined
    ? { type: 'Bound', status: 'False', reason: 'ClusterSetNotFound', message: '' }
    : { type: 'Bound', status: 'True', reason: 'ClusterSetBound', message: '' };
}
