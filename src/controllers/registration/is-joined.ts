import type { ManagedCluster } from '../../core/model/kind/managed-cluster.ts';
import { JOINED } from '../../core/registration/cluster-conditions.ts';
import { findCondition } from '../../core/work/conditions/condition-list.ts';

/** Whether the agent of the cluster has ever worked with its certificate. */
export function isJoined({ status }: ManagedCluster): boolean {
  return findCondition(status?.conditions, JOINED)?.status === 'True';
}
