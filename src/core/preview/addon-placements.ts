import type { KubeObject } from '../model/object-meta.ts';

/**
 * Placements (`namespace/name`) whose clusters get an add-on: the install strategy of a ClusterManagementAddOn. OCM's add-on manager
 * installs it on every cluster of their decisions, and takes it from those that leave. Of one that is installed by hand: none.
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
