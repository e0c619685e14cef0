import type { ManagedCluster, ManagedNamespaceStatus } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import { isInSet, membershipOf } from '@berth/placement/filter/eligibility';
import { jsonEqual } from '@berth/runtime/json/json-equal';

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
