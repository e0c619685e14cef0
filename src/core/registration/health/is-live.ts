import { findCondition } from '@berth/kube/model/condition-list';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { AVAILABLE, JOINED } from '@berth/ocm/registration/cluster-conditions';

/** Field manager of a status that Git recorded, for a hub without agents. */
export const RECORDED_STATUS_MANAGER = 'berth-recorded-status';

/** The used fields of a meta/v1 ManagedFieldsEntry. */
interface StatusWriter {
  readonly manager?: string;
  readonly subresource?: string;
}

/**
 * Whether the hub has accepted the cluster and its agent works. The Lease need not be read: the hub sets the condition
 * to Unknown when the agent stops renewing it. Every other value was reported by the agent, and one that has just
 * joined has none yet. A hub that does not watch the Leases leaves the last value, which counts as live: the safe side.
 * A status that Git recorded shows no agent.
 */
export function isLive(cluster: ManagedCluster): boolean {
  const isAccepted = cluster.spec?.hubAcceptsClient === true;
  const isSilent = findCondition(cluster.status?.conditions, AVAILABLE)?.status === 'Unknown';
  return isAccepted && isJoined(cluster) && !isSilent && !isRecorded(cluster);
}

function isRecorded({ metadata }: ManagedCluster): boolean {
  const writers = ((metadata.managedFields ?? []) as readonly StatusWriter[]).filter(
    ({ subresource }) => subresource === 'status',
  );
  return writers.length > 0 && writers.every(({ manager }) => manager === RECORDED_STATUS_MANAGER);
}

/** Whether the agent of the cluster has ever connected to the hub with its certificate. */
export function isJoined({ status }: ManagedCluster): boolean {
  return findCondition(status?.conditions, JOINED)?.status === 'True';
}

/** Whether the cluster has joined, and its agent runs as far as the hub knows. */
export function isAlive(cluster: ManagedCluster): boolean {
  return isJoined(cluster) && findCondition(cluster.status?.conditions, AVAILABLE)?.status === 'True';
}
