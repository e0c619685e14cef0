import type { KubeObject } from '@berth/kube/model/object-meta';

/**
 * The placements (`namespace/name`) in the install strategy of a ClusterManagementAddOn. OCM's add-on manager installs
 * the add-on on every cluster of their decisions, and removes it from clusters that leave. Empty for an add-on that is
 * installed by hand.
 */
export function addOnPlacements(addOn: KubeObject): readonly string[] {
  const { installStrategy } = (addOn['spec'] ?? {}) as {
    readonly installStrategy?: {
      readonly type?: unknown;
      readonly placements?: readonly { readonly namespace?: unknown; readonly name?: unknown }[];
    };
  };
  if (installStrategy?.type !== 'Placements' || !Array.isArray(installStrategy.placements)) return [];
  return [
    ...new Set(
      installStrategy.placements.map(({ namespace, name }) => `${String(namespace)}/${String(name)}`),
    ),
  ].sort();
}
