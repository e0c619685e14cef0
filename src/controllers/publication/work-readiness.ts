import type { ObjectStore } from '../../adapters/kube/cache/object-store.ts';
import { REPLICA_SET_LABEL, WORK_PLACEMENT_LABEL } from '../../core/model/kind/manifest-work-replica-set.ts';
import type { Condition, KubeObject } from '../../core/model/object-meta.ts';

/**
 * Whether the works of the placement run on the cluster: true when there is at least one ManifestWork of the
 * placement in the cluster's namespace and each one reports Available (or Healthy) for its present generation. No
 * work is no evidence.
 */
export function isWorkReady(works: ObjectStore, placement: string, cluster: string): boolean {
  const slash = placement.indexOf('/');
  const [namespace, name] = [placement.slice(0, slash), placement.slice(slash + 1)];
  const own = works
    .list()
    .filter(
      ({ metadata: { namespace: where, labels } }) =>
        where === cluster &&
        labels?.[WORK_PLACEMENT_LABEL] === name &&
        (labels[REPLICA_SET_LABEL] ?? '').startsWith(`${namespace}.`),
    );
  return own.length > 0 && own.every(reportsAvailable);
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
