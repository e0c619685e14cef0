import type { NameSummary } from '../publish/record/compact-record.ts';

/** One step of the timeline of a cluster or a placement, as stored and shown. Plain JSON. */
export interface TimelineStep {
  /** When Berth saw it, RFC 3339 with milliseconds. Of `toleration-ended`: when it ended. */
  readonly at: string;
  readonly step: StepName;
  /** Absent where a placement gained or lost several. */
  readonly cluster?: string | undefined;
  /** `namespace/name`; absent for what happens to a cluster itself. */
  readonly placement?: string | undefined;
  readonly detail: string;
  /** Of `decision-moved`. */
  readonly added?: NameSummary | undefined;
  readonly removed?: NameSummary | undefined;
}

export type StepName =
  | 'lease-expired'
  | 'available'
  | 'unavailable'
  | 'unknown'
  | 'taint-added'
  | 'taint-removed'
  | 'toleration-ended'
  | 'decision-moved'
  | 'work-created'
  | 'work-applied'
  | 'work-withdrawn'
  | 'work-removed'
  | 'rule-overridden';

/** Steps sorted by time; steps of the same time keep their order. */
export function inOrder(steps: readonly TimelineStep[]): readonly TimelineStep[] {
  return [...steps].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** The steps of one placement, and of the clusters that it selected or deselected. */
export function stepsOf(
  placement: string,
  steps: readonly TimelineStep[],
  clusters: ReadonlySet<string>,
): readonly TimelineStep[] {
  return steps.filter((step) =>
    step.placement === undefined ? clusters.has(step.cluster ?? '') : step.placement === placement,
  );
}
