import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Condition } from '@berth/kube/model/object-meta';
import { findCondition } from '@berth/kube/model/condition-list';

/** Whether the cluster has applied the current content of the work. */
export function hasAppliedCurrent({ metadata, status }: ManifestWork): boolean {
  return isAppliedAt(metadata.generation, status?.conditions);
}

/** Whether the conditions of a work or manifest show that this generation was applied. */
export function isAppliedAt(
  generation: number | undefined,
  conditions: readonly Condition[] | undefined,
): boolean {
  const applied = findCondition(conditions, 'Applied');
  return applied?.status === 'True' && applied.observedGeneration === generation;
}
