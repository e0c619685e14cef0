import type { ManagedCluster } from '../../core/model/kind/managed-cluster.ts';
import { AVAILABLE } from '../../core/registration/cluster-conditions.ts';
import { findCondition } from '../../core/work/conditions/condition-list.ts';
import { isJoined } from './is-joined.ts';

/** The cluster has joined, and as far as the hub knows its agent runs. */
export function isAlive(cluster: ManagedCluster): boolean {
  return isJoined(cluster) && findCondition(cluster.status?.conditions, AVAILABLE)?.status === 'True';
}
