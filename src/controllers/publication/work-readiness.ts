import type { Condition, KubeObject } from '@berth/kube/model/object-meta';

/**
 * Whether a placement runs on a cluster. This is true if the namespace of the cluster contains at least one
 * ManifestWork of the placement, and each of them reports Available (or Healthy) for its current generation. Without a
 * work there is no evidence.
 * @param works the works of the placement on the cluster
 */
export function areWorksReady(works: readonly KubeObject[]): boolean {
  return works.length > 0 && works.every(reportsAvailable);
}

function reportsAvailable(work: KubeObject): boolean {
  const status = work['status'] as { conditions?: readonly Condition[] } | undefined;
  return (status?.conditions ?? []).some(
    ({ type, status: value, observedGeneration }) =>
      (type === 'Available' || type === 'Healthy') &&
      value === 'True' &&
      (observedGeneration === undefined || observedGeneration === work.metadata.generation),
  );
}
