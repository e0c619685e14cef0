import { eventAbout, type EventContent, type EventWriter } from '@berth/kube/model/event';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';

/** Types of the conditions of a ManagedCluster that registration writes. */
export const ACCEPTED = 'HubAcceptedManagedCluster';
export const JOINED = 'ManagedClusterJoined';
export const AVAILABLE = 'ManagedClusterConditionAvailable';
export const CLOCK_SYNCED = 'ManagedClusterConditionClockSynced';
export const CERTIFICATE_ROTATED = 'ClusterCertificateRotated';
export const DELETING = 'Deleting';

/**
 * The conditions of a ManagedCluster with fixed texts, the same as OCM's. The hub writes those of acceptance, the
 * lease, the clock and deletion. The agent writes the others.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/managedcluster`, `hub/lease`, `hub/gc`, `spoke/managedcluster`.
 */
export const CLUSTER_CONDITIONS = {
  accepted: {
    type: ACCEPTED,
    status: 'True',
    reason: 'HubClusterAdminAccepted',
    message: 'Accepted by hub cluster admin',
  },
  denied: {
    type: ACCEPTED,
    status: 'False',
    reason: 'HubClusterAdminDenied',
    message: 'Denied by hub cluster admin',
  },
  joined: {
    type: JOINED,
    status: 'True',
    reason: 'ManagedClusterJoined',
    message: 'Managed cluster joined',
  },
  available: {
    type: AVAILABLE,
    status: 'True',
    reason: 'ManagedClusterAvailable',
    message: 'Managed cluster is available',
  },
  leaseStopped: {
    type: AVAILABLE,
    status: 'Unknown',
    reason: 'ManagedClusterLeaseUpdateStopped',
    message: 'Registration agent stopped updating its lease.',
  },
  clockSynced: {
    type: CLOCK_SYNCED,
    status: 'True',
    reason: 'ManagedClusterClockSynced',
    message: 'The clock of the managed cluster is synced with the hub.',
  },
  clockOutOfSync: {
    type: CLOCK_SYNCED,
    status: 'False',
    reason: 'ManagedClusterClockOutOfSync',
    message:
      'The clock of hub and agent is out of sync. This may cause the Unknown status and affect agent functionalities.',
  },
  nothingRemains: {
    type: DELETING,
    status: 'True',
    reason: 'NoResource',
    message: 'No cleaned resource in cluster ns.',
  },
} as const satisfies Readonly<Record<string, Condition>>;

/**
 * The API server of the cluster does not answer its agent.
 * @param why the text after `The kube-apiserver is not ok, `
 */
export function apiServerDown(why: string): Condition {
  return {
    type: AVAILABLE,
    status: 'False',
    reason: 'ManagedClusterKubeAPIServerUnavailable',
    message: `The kube-apiserver is not ok, ${why}`,
  };
}

/** The objects for acceptance could not be written on the hub. */
export function acceptanceFailed(message: string): Condition {
  return { type: ACCEPTED, status: 'False', reason: 'Error', message };
}

/** @param resource plural of the remaining objects in the namespace of a cluster that is being deleted */
export function resourceRemains(resource: string, remaining: number, withFinalizers: number): Condition {
  return {
    type: DELETING,
    status: 'False',
    reason: 'ResourceRemaining',
    // OCM's spelling.
    message: `The resource ${resource} is remaning, the remaining count is ${remaining}, the finalizer pending count is ${withFinalizers}`,
  };
}

export function deletionFailed(message: string): Condition {
  return { type: DELETING, status: 'False', reason: 'DeletingError', message };
}

/** Both times as Go prints them, e.g. `2023-05-28 14:08:57 +0000 UTC`. */
export function certificateRotated(from: string, to: string): Condition {
  return {
    type: CERTIFICATE_ROTATED,
    status: 'True',
    reason: 'ClientCertificateUpdated',
    message: `client certificate rotated starting from ${from} to ${to}`,
  };
}

export function certificateNotRotated(message: string): Condition {
  return { type: CERTIFICATE_ROTATED, status: 'False', reason: 'ClientCertificateUpdateFailed', message };
}

/**
 * An Event in the namespace of the cluster. A ManagedCluster has no namespace, but the API server requires that
 * `regarding` names the namespace of the Event. Source: kubernetes/kubernetes `pkg/apis/core/validation/events.go`,
 * legacyValidateEvent.
 */
export function clusterEvent(
  { metadata: { name, uid = '' } }: Pick<KubeObject, 'metadata'>,
  content: EventContent,
  writer: EventWriter,
): KubeObject {
  return eventAbout({ kind: MANAGED_CLUSTER, namespace: name, name, uid }, content, writer);
}
