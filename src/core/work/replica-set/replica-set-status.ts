import type {
  ManifestWorkReplicaSet,
  ManifestWorkReplicaSetStatus,
  WorkSummary,
} from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Condition } from '@berth/kube/model/object-meta';
import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import type { PlacementOutcome, ReplicaSetPlan } from './replica-set-plan.ts';
import { STATUS_RIVAL_TEXT } from './status-rivals.ts';
import type { ClusterWorks } from './replica-set-child.ts';
import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';
import { controlProblems } from './rollout-control.ts';

/** Why no new rollout starts (`paused`), or why an earlier template is rolled out (`aborted`, `rolled-back`). */
export type RolloutHold = 'none' | 'paused' | 'aborted' | 'rolled-back';

/** The result of a pass over a replica set. */
export interface PassOutcome {
  /** RFC 3339 */
  readonly now: string;
  readonly hold: RolloutHold;
  /** Why works could not be written; undefined when all of them were. */
  readonly failure: string | undefined;
}

/** Computes the replica set's status from the plan and the works. */
export function replicaSetStatus(
  replicaSet: ManifestWorkReplicaSet,
  plan: ReplicaSetPlan,
  { now, hold, failure }: PassOutcome,
): ManifestWorkReplicaSetStatus {
  const summaries = plan.placements.map(summarize);
  const summary = summaries.reduce(addSummaries, EMPTY);
  const conditions = [
    verified(plan.placements),
    rolledOut(plan.placements, hold, controlProblems(replicaSet)),
    failure === undefined ? applied(plan.placements, summary) : notWritten(failure),
    ...resumed(replicaSet),
  ].reduce((list, condition) => setCondition(list, condition, now), replicaSet.status?.conditions ?? []);
  return {
    conditions,
    summary,
    placementSummary: plan.placements.map((placement, index) => ({
      name: placement.name,
      availableDecisionGroups: `${placement.groups} (${placement.upToDate.length} / ${placement.selected} clusters applied)`,
      summary: summaries[index] ?? EMPTY,
    })),
  };
}

/** The conditions of a replica set whose works Berth leaves to another controller; the rest of the status is the other's. */
export function yieldedConditions(replicaSet: ManifestWorkReplicaSet, now: string): readonly Condition[] {
  const held = {
    type: HELD_CONDITION,
    status: 'True',
    reason: 'SecondWriter',
    message: STATUS_RIVAL_TEXT,
  } as const;
  return setCondition(replicaSet.status?.conditions ?? [], held, now);
}

function resumed({ status }: ManifestWorkReplicaSet): readonly Condition[] {
  const isHeld = findCondition(status?.conditions, HELD_CONDITION)?.status === 'True';
  return isHeld ? [{ type: HELD_CONDITION, status: 'False', reason: 'Resumed', message: '' }] : [];
}

const EMPTY: WorkSummary = {
  total: 0,
  progressing: 0,
  available: 0,
  degraded: 0,
  applied: 0,
  desiredTotal: 0,
  updated: 0,
};

/** Counts clusters. The status of a cluster with several works is combined from all of them. */
function summarize(placement: PlacementOutcome): WorkSummary {
  const count = (type: string, every: boolean): number =>
    placement.upToDate.filter((group) => hasCondition(group, type, every)).length;
  return {
    total: placement.existing.length,
    progressing: count('Progressing', false),
    available: count('Available', true),
    degraded: count('Degraded', false),
    applied: count('Applied', true),
    desiredTotal: placement.selected,
    updated: placement.upToDate.length,
  };
}

/** Whether all works of the cluster, or one of them, report the condition as True. */
function hasCondition({ works }: ClusterWorks, type: string, every: boolean): boolean {
  const isTrue = (work: ManifestWork): boolean =>
    work.metadata.deletionTimestamp === undefined &&
    findCondition(work.status?.conditions, type)?.status === 'True';
  const all = [...works.values()];
  return every ? all.every(isTrue) : all.some(isTrue);
}

function addSummaries(a: WorkSummary, b: WorkSummary): WorkSummary {
  return {
    total: a.total + b.total,
    progressing: a.progressing + b.progressing,
    available: a.available + b.available,
    degraded: a.degraded + b.degraded,
    applied: a.applied + b.applied,
    desiredTotal: (a.desiredTotal ?? 0) + (b.desiredTotal ?? 0),
    updated: (a.updated ?? 0) + (b.updated ?? 0),
  };
}

function verified(placements: readonly PlacementOutcome[]): Condition {
  const condition = (status: Condition['status'], reason: string, message: string): Condition => ({
    type: 'PlacementVerified',
    status,
    reason,
    message,
  });
  const texts = (state: PlacementOutcome['state']): string =>
    placements
      .filter((placement) => placement.state === state)
      .map(({ message }) => message)
      .join('; ');
  const missing = texts('placement-missing');
  if (missing !== '') return condition('False', 'PlacementDecisionNotFound', missing);
  const wrong = texts('misconfigured');
  if (wrong !== '') return condition('False', 'NotAsExpected', wrong);
  if (placements.every(({ selected }) => selected === 0))
    return condition('False', 'PlacementDecisionEmpty', 'no cluster is selected');
  return condition('True', 'AsExpected', texts('incomplete'));
}

/** True when every selected cluster has the content and has had it for long enough, and nothing waits to be removed. */
function rolledOut(
  placements: readonly PlacementOutcome[],
  hold: RolloutHold,
  problems: readonly string[],
): Condition {
  const selected = sum(placements, ({ selected: n, withoutWork }) => n - withoutWork.length);
  const succeeded = sum(placements, ({ succeeded: n }) => n);
  const arePlanned = placements.every(({ state }) => state === 'planned');
  const leaving = placements.some(({ existing, selected: n }) => existing.length > n);
  const wanted = hold === 'none' || hold === 'paused';
  const complete = wanted && selected > 0 && succeeded === selected && arePlanned && !leaving;
  const list = (pick: (placement: PlacementOutcome) => readonly string[]): string =>
    [...new Set(placements.flatMap(pick))].sort().join(', ');
  const parts = [`${succeeded} of ${selected} clusters succeeded`];
  const failed = list((placement) => placement.failed);
  const timedOut = list((placement) => placement.timedOut);
  const going = list((placement) => placement.withoutWork);
  if (failed !== '') parts.push(`failed: ${failed}`);
  if (timedOut !== '') parts.push(`timed out: ${timedOut}`);
  if (going !== '')
    parts.push(`no work is made for clusters that are being deleted or do not exist: ${going}`);
  if (placements.some(({ maxFailureBreach }) => maxFailureBreach))
    parts.push('stopped: more failures than maxFailures allows');
  if (hold !== 'none') parts.push(HOLD_TEXTS[hold]);
  parts.push(...problems);
  return {
    type: 'PlacementRolledOut',
    status: complete ? 'True' : 'False',
    reason: complete ? 'Complete' : 'Progressing',
    message: parts.join('; '),
  };
}

const HOLD_TEXTS: Readonly<Record<Exclude<RolloutHold, 'none'>, string>> = {
  paused: 'paused: nothing new starts',
  aborted: 'aborted: clusters go back to the last good template',
  'rolled-back':
    'rolled back: too many clusters failed, the last good template is used until the template changes',
};

function applied(placements: readonly PlacementOutcome[], summary: WorkSummary): Condition {
  const condition = (status: Condition['status'], reason: string): Condition => ({
    type: 'ManifestworkApplied',
    status,
    reason,
    message: '',
  });
  if (summary.total === 0) {
    const empty = placements.every(({ selected, state }) => selected === 0 && state !== 'placement-missing');
    return condition('False', empty ? 'PlacementDecisionEmpty' : 'NotAsExpected');
  }
  if (summary.available === summary.total && summary.progressing === 0 && summary.degraded === 0)
    return condition('True', 'AsExpected');
  return condition(
    'False',
    summary.progressing > 0 && summary.degraded === 0 ? 'Processing' : 'NotAsExpected',
  );
}

function notWritten(failure: string): Condition {
  const message = `works could not be written and are tried again: ${failure}`;
  return { type: 'ManifestworkApplied', status: 'False', reason: 'NotAsExpected', message };
}

function sum(placements: readonly PlacementOutcome[], pick: (placement: PlacementOutcome) => number): number {
  return placements.reduce((total, placement) => total + pick(placement), 0);
}
