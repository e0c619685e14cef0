import type { ManagedCluster } from '../../model/kind/managed-cluster.ts';
import type { ManagedClusterSet } from '../../model/kind/managed-cluster-set.ts';
import type { Condition } from '../../model/object-meta.ts';
import { isMember, membershipOf } from '../../placement/filter/set-membership.ts';

/**
 * How many clusters a set selects.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/managedclusterset/controller.go`.
 */
export function setCondition(set: ManagedClusterSet, clusters: readonly ManagedCluster[]): Condition {
  const membership = membershipOf(set);
  const count = clusters.filter((cluster) => isMember(cluster, membership)).length;
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
