import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { AVAILABLE, DELETING } from '@berth/ocm/registration/cluster-conditions';
import { REMOVAL_HELD } from '../registration/cluster-deletion.ts';
import { findCondition } from '@berth/kube/model/condition-list';
import type { Listed } from './listed.ts';

/**
 * The columns of `clusteradm get clusters`. Values that are not reported yet are empty cells. One more column has the reasons why
 * deletions are not done, where a cluster is being deleted.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/cluster`.
 */
export function listClusters(clusters: readonly ManagedCluster[]): Listed {
  const areDeleted = clusters.some((cluster) => deletionState(cluster) !== '');
  return {
    header: [...HEADER, ...(areDeleted ? ['DELETING'] : [])],
    rows: clusters.map((cluster) => {
      const { metadata, spec, status } = cluster;
      return [
        metadata.name,
        String(spec?.hubAcceptsClient ?? false),
        findCondition(status?.conditions, AVAILABLE)?.status ?? '',
        metadata.labels?.[CLUSTER_SET_LABEL] ?? '',
        String(status?.capacity?.['cpu'] ?? ''),
        String(status?.capacity?.['memory'] ?? ''),
        status?.version?.kubernetes ?? '',
        ...(areDeleted ? [deletionState(cluster)] : []),
      ];
    }),
  };
}

const HEADER = ['NAME', 'ACCEPTED', 'AVAILABLE', 'CLUSTERSET', 'CPU', 'MEMORY', 'KUBERNETES VERSION'];

/** `held (RemovalHeld)`; '' if nobody deletes the cluster. */
function deletionState({ metadata, status }: ManagedCluster): string {
  if (metadata.deletionTimestamp === undefined) return '';
  const reason = findCondition(status?.conditions, DELETING)?.reason;
  if (reason === REMOVAL_HELD) return `held (${reason})`;
  return reason ?? 'yes';
}
