import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { findCondition } from '@berth/kube/model/condition-list';
import type { Listed } from './listed.ts';

/** A ManagedClusterAddOn, in the namespace of its cluster. */
export interface ListedAddon {
  readonly metadata: ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/**
 * Add-ons, the clusters on which each is available, and the others to which it was added, with the
 * reason. `clusteradm get addons` lists both as installed.
 *
 * @param addons metadata of the ClusterManagementAddOns
 */
export function listAddons(
  addons: readonly ObjectMeta[],
  installed: readonly ListedAddon[],
  clusters: readonly ManagedCluster[],
): Listed {
  const byName = new Map(clusters.map((cluster) => [cluster.metadata.name, cluster]));
  const sorted = installed.toSorted((a, b) => (clusterOf(a) < clusterOf(b) ? -1 : 1));
  return {
    header: ['NAME', 'AVAILABLE CLUSTERS', 'OTHER CLUSTERS'],
    rows: addons.map(({ name }) => {
      const own = sorted
        .filter(({ metadata }) => metadata.name === name)
        .map((addon) => ({ cluster: clusterOf(addon), why: whyNot(addon, byName.get(clusterOf(addon))) }));
      const available = own.filter(({ why }) => why === undefined).map(({ cluster }) => cluster);
      const others = own.flatMap(({ cluster, why }) => (why === undefined ? [] : [`${cluster} (${why})`]));
      return [name, available.join(','), others.join(', ')];
    }),
  };
}

function clusterOf({ metadata }: ListedAddon): string {
  return metadata.namespace ?? '';
}

/**
 * Why the add-on is not known to be available on its cluster. Undefined: it is. While the agent of
 * a cluster is silent, nobody updates the status of its add-ons.
 */
function whyNot({ metadata, status }: ListedAddon, cluster: ManagedCluster | undefined): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'being removed';
  if (cluster === undefined) return 'there is no such cluster';
  const alive = findCondition(cluster.status?.conditions, AVAILABLE);
  if (alive?.status !== 'True')
    return `unknown: the cluster ${alive === undefined ? 'has not joined' : `is not available, ${alive.reason}`}`;
  const available = findCondition(status?.conditions, 'Available');
  if (available?.status === 'True') return undefined;
  if (available !== undefined)
    return `${available.status === 'False' ? 'not available' : 'unknown'}: ${available.reason}`;
  const registered = findCondition(status?.conditions, 'RegistrationApplied');
  if (registered?.status === 'False') return `not registered: ${registered.reason}`;
  return registered === undefined ? 'not reported yet' : 'registered, not reported yet';
}
