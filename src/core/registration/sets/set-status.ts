import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import type { Condition } from '@berth/kube/model/object-meta';
import { isInSet, membershipOf } from '@berth/placement/filter/eligibility';

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
