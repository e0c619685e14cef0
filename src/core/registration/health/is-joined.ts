import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { findCondition } from '@berth/kube/model/condition-list';
import { AVAILABLE, JOINED } from '@berth/ocm/registration/cluster-conditions';

/** Whether the agent of the cluster has ever connected to the hub with its certificate. */
export function isJoined({ status }: ManagedCluster): boolean {
  return findCondition(status?.conditions, JOINED)?.status === 'True';
}

/** Whether the cluster has joined, and its agent runs as far as the hub knows. */
export function isAlive(cluster: ManagedCluster): boolean {
  return isJoined(cluster) && findCondition(cluster.status?.conditions, AVAILABLE)?.status === 'True';
}
