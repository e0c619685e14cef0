import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import { findCondition } from '@berth/kube/model/condition-list';
import type { Listed } from './listed.ts';

/**
 * The columns of `clusteradm get clustersets`.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/clusterset`.
 *
 * @param bindings of all namespaces
 */
export function listClusterSets(
  sets: readonly ManagedClusterSet[],
  bindings: readonly ManagedClusterSetBinding[],
): Listed {
  const namespaces = new Map<string, string[]>();
  for (const { metadata, spec } of bindings) {
    const set = spec?.clusterSet ?? metadata.name;
    namespaces.set(set, [...(namespaces.get(set) ?? []), metadata.namespace ?? '']);
  }
  return {
    header: ['NAME', 'BOUND NAMESPACES', 'STATUS'],
    rows: sets.map(({ metadata, status }) => [
      metadata.name,
      (namespaces.get(metadata.name) ?? []).sort().join(','),
      findCondition(status?.conditions, 'ClusterSetEmpty')?.message ?? '',
    ]),
  };
}
