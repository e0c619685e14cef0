import type { ManifestWork } from '../../model/manifest-work.ts';
import { findCondition } from '../condition-list.ts';

/** The cluster has applied what the work holds now. */
export function hasAppliedCurrent({ metadata, status }: ManifestWork): boolean {
  const applied = findCondition(status?.conditions, 'Applied');
  return applied?.status === 'True' && applied.observedGeneration === metadata.generation;
}
