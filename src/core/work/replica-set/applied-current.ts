import type { ManifestWork } from '../../model/kind/manifest-work.ts';
import type { Condition } from '../../model/object-meta.ts';
import { findCondition } from '../conditions/condition-list.ts';

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
