import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { findCondition } from '@berth/kube/model/condition-list';
import type { StepName, TimelineStep } from './timeline-step.ts';

/**
 * The timeline steps of a change of a work of a placement.
 * @param change `before` undefined: created; `after` undefined: deleted
 * @param given `placement`: `namespace/name`; `at`: when the change was observed, RFC 3339
 */
export function workSteps(
  { before, after }: { readonly before: ManifestWork | undefined; readonly after: ManifestWork | undefined },
  { placement, at }: { readonly placement: string; readonly at: string },
): readonly TimelineStep[] {
  const { name = '', namespace: cluster } = (after ?? before)?.metadata ?? {};
  const step = (named: StepName, more = ''): TimelineStep => ({
    ...{ at, step: named, cluster, placement },
    detail: `${name}${more}`,
  });
  if (after === undefined) return [step('work-removed')];
  const isLeaving = after.metadata.deletionTimestamp !== undefined;
  return [
    ...(before === undefined ? [step('work-created')] : []),
    ...(isApplied(after) && !isApplied(before) ? [step('work-applied')] : []),
    ...(isLeaving && before?.metadata.deletionTimestamp === undefined
      ? [step('work-withdrawn', '; its copy stays until the agent has removed it')]
      : []),
  ];
}

/** Whether the current generation is applied. */
function isApplied(work: ManifestWork | undefined): boolean {
  const applied = findCondition(work?.status?.conditions, 'Applied');
  return applied?.status === 'True' && applied.observedGeneration === work?.metadata.generation;
}
