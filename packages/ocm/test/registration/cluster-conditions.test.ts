import { expect, it } from 'vitest';
import type { Condition } from '@berth/kube/model/object-meta';
import {
  acceptanceFailed,
  apiServerDown,
  certificateNotRotated,
  certificateRotated,
  CLUSTER_CONDITIONS,
  deletionFailed,
  resourceRemains,
} from '../../src/registration/cluster-conditions.ts';

const text = ({ type, status, reason, message }: Condition): string =>
  [type, status, reason, message].join('|');

it.each([
  [
    CLUSTER_CONDITIONS.accepted,
    'HubAcceptedManagedCluster|True|HubClusterAdminAccepted|Accepted by hub cluster admin',
  ],
  [
    CLUSTER_CONDITIONS.denied,
    'HubAcceptedManagedCluster|False|HubClusterAdminDenied|Denied by hub cluster admin',
  ],
  [acceptanceFailed('x'), 'HubAcceptedManagedCluster|False|Error|x'],
  [CLUSTER_CONDITIONS.joined, 'ManagedClusterJoined|True|ManagedClusterJoined|Managed cluster joined'],
  [
    CLUSTER_CONDITIONS.available,
    'ManagedClusterConditionAvailable|True|ManagedClusterAvailable|Managed cluster is available',
  ],
  [
    apiServerDown('status code: 500, x'),
    'ManagedClusterConditionAvailable|False|ManagedClusterKubeAPIServerUnavailable|The kube-apiserver is not ok, status code: 500, x',
  ],
  [
    CLUSTER_CONDITIONS.leaseStopped,
    'ManagedClusterConditionAvailable|Unknown|ManagedClusterLeaseUpdateStopped|Registration agent stopped updating its lease.',
  ],
  [
    CLUSTER_CONDITIONS.clockSynced,
    'ManagedClusterConditionClockSynced|True|ManagedClusterClockSynced|The clock of the managed cluster is synced with the hub.',
  ],
  [
    CLUSTER_CONDITIONS.clockOutOfSync,
    'ManagedClusterConditionClockSynced|False|ManagedClusterClockOutOfSync|The clock of hub and agent is out of sync. This may cause the Unknown status and affect agent functionalities.',
  ],
  [
    certificateRotated('2023-05-28 14:08:57 +0000 UTC', '2024-05-28 14:08:57 +0000 UTC'),
    'ClusterCertificateRotated|True|ClientCertificateUpdated|client certificate rotated starting from 2023-05-28 14:08:57 +0000 UTC to 2024-05-28 14:08:57 +0000 UTC',
  ],
  [certificateNotRotated('x'), 'ClusterCertificateRotated|False|ClientCertificateUpdateFailed|x'],
  [
    resourceRemains('manifestworks', 2, 1),
    'Deleting|False|ResourceRemaining|The resource manifestworks is remaning, the remaining count is 2, the finalizer pending count is 1',
  ],
  [deletionFailed('x'), 'Deleting|False|DeletingError|x'],
  [CLUSTER_CONDITIONS.nothingRemains, 'Deleting|True|NoResource|No cleaned resource in cluster ns.'],
])('writes %o as OCM does', (condition, want) => {
  expect(text(condition)).toBe(want);
});
