import { CLUSTER_SET_LABEL, type ManagedCluster } from '../model/kind/managed-cluster.ts';
import { AVAILABLE } from '../registration/cluster-conditions.ts';
import { findCondition } from '../work/conditions/condition-list.ts';
import type { Listed } from './listed.ts';

/**
 * The columns of `clusteradm get clusters`. Values that are not reported yet are empty cells.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/cluster`.
 */
export function listClusters(clusters: readonly ManagedCluster[]): Listed {
  return {
    header: ['NAME', 'ACCEPTED', 'AVAILABLE', 'CLUSTERSET', 'CPU', 'MEMORY', 'KUBERNETES VERSION'],
    rows: clusters.map(({ metadata, spec, status }) => [
      metadata.name,
      String(spec?.hubAcceptsClient ?? false),
      findCondition(status?.conditions, AVAILABLE)?.status ?? '',
      metadata.labels?.[CLUSTER_SET_LABEL] ?? '',
      String(status?.capacity?.['cpu'] ?? ''),
      String(status?.capacity?.['memory'] ?? ''),
      status?.version?.kubernetes ?? '',
    ]),
  };
}
