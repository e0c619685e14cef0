import type { ManifestWork } from '../../model/kind/manifest-work.ts';
import type { Condition } from '../../model/object-meta.ts';
import { findCondition } from '../conditions/condition-list.ts';

/** The cluster has applied what the work holds now. */
export function hasAppliedCurrent({ metadata, status }: ManifestWork): boolean {
  return isAppliedAt(metadata.generation, status?.conditions);
}

/** The conditions, of a work or of one of its manifests, say that this generation was applied. */
export function isAppliedAt(
  generation: number | undefined,
  conditions: readonly Condition[] | undefined,
): boolean {
  const applied = findCondition(conditions, 'Applied');
  return applied?.status === 'True' && applied.observedGeneration === generation;
}
