import type { ObjectMeta } from '../model/object-meta.ts';
import type { Listed } from './listed.ts';

/**
 * The columns of `clusteradm get addons`.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/addon`.
 *
 * @param addons metadata of the ClusterManagementAddOns
 * @param installed metadata of the ManagedClusterAddOns, each in the namespace of its cluster
 */
export function listAddons(addons: readonly ObjectMeta[], installed: readonly ObjectMeta[]): Listed {
  const clusters = new Map<string, string[]>();
  for (const { name, namespace = '' } of installed)
    clusters.set(name, [...(clusters.get(name) ?? []), namespace]);
  return {
    header: ['NAME', 'INSTALLED CLUSTERS'],
    rows: addons.map(({ name }) => [name, (clusters.get(name) ?? []).sort().join(',')]),
  };
}
