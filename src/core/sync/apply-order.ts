import type { KubeObject } from '@berth/kube/model/object-meta';

/** Kinds that others need are first; objects of one wave are independent of each other. */
const WAVES: readonly (readonly string[])[] = [
  ['Namespace', 'CustomResourceDefinition'],
  ['ServiceAccount', 'ClusterRole', 'Role', 'Secret', 'ConfigMap', 'ManagedClusterSet'],
  ['ClusterRoleBinding', 'RoleBinding', 'ManagedCluster', 'ManagedClusterSetBinding'],
  ['AddOnPlacementScore', 'ClusterManagementAddOn', 'AddOnDeploymentConfig', 'AddOnTemplate'],
  ['Placement', 'ManagedClusterAddOn'],
];

/** Kinds that are not listed may depend on all listed ones, so they are last. */
export function applyWave(kind: string): number {
  const wave = WAVES.findIndex((kinds) => kinds.includes(kind));
  return wave === -1 ? WAVES.length : wave;
}

/** Groups in the order of application; reverse it to delete. */
export function groupByWave<T extends Pick<KubeObject, 'kind'>>(
  objects: readonly T[],
): readonly (readonly T[])[] {
  const waves = Array.from({ length: WAVES.length + 1 }, (): T[] => []);
  for (const object of objects) waves[applyWave(object.kind)]?.push(object);
  return waves.filter((wave) => wave.length > 0);
}
