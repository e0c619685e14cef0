import type { FeedbackValue, ManifestCondition, ManifestWorkStatus } from '@berth/ocm/kind/manifest-work';
import type { Condition } from '@berth/kube/model/object-meta';
import {
  aggregateAvailable,
  aggregateRules,
  RULE_REASON_PREFIX,
} from '../conditions/aggregate-conditions.ts';
import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import { jsonEqual } from '@berth/runtime/json/json-equal';

/** A condition without its time: the result of one evaluation. */
export type PlannedCondition = Omit<Condition, 'lastTransitionTime'>;

/** `generation` of the work that was read · `now` RFC 3339, seconds */
export interface StatusMoment {
  readonly generation: number;
  readonly now: string;
}

/** The observation of one manifest's object on the cluster. */
export type Observation =
  | {
      readonly kind: 'present';
      /** Undefined: no feedback is requested. */
      readonly feedback:
        | { readonly values: readonly FeedbackValue[]; readonly problem?: string | undefined }
        | undefined;
      readonly rules: readonly PlannedCondition[];
      /** Whether its controller has not looked at the newest version of its spec yet. */
      readonly isSettling: boolean;
    }
  /** `ruleTypes`: the condition types that its rules would set. */
  | { readonly kind: 'absent'; readonly ruleTypes: readonly string[] }
  | { readonly kind: 'failed'; readonly ruleTypes: readonly string[]; readonly problem: string }
  /** The work's executor may not get it, so nothing was read. */
  | {
      readonly kind: 'denied';
      readonly ruleTypes: readonly string[];
      readonly problem: string;
      readonly asksFeedback: boolean;
    }
  | { readonly kind: 'incomplete' };

/**
 * The status after observing the cluster: Available, feedback and rule conditions per manifest,
 * then those of the work. Rules of a deleted object keep their last result, so that a Job with a
 * TTL stays complete.
 */
export function observedStatus(
  before: ManifestWorkStatus,
  observations: readonly Observation[],
  moment: StatusMoment,
): ManifestWorkStatus {
  const entries = before.resourceStatus?.manifests ?? [];
  const manifests = entries.map((entry, index) =>
    observedEntry(entry, observations[index] ?? { kind: 'incomplete' }, moment),
  );
  const { generation, now } = moment;
  let conditions = before.conditions ?? [];
  const isSettling = observations.some((one) => one.kind === 'present' && one.isSettling);
  const settledAt = isSettling ? lastSettled(conditions, generation) : generation;
  conditions = setCondition(conditions, aggregateAvailable(manifests, settledAt), now);
  for (const rule of aggregateRules(manifests, generation)) conditions = setCondition(conditions, rule, now);
  conditions = pruneRuleConditions(conditions, generation);
  return { ...before, conditions, resourceStatus: { manifests } };
}

/**
 * The generation for which the work was last available. While a workload's status is about the version before, so are its
 * replicas, and a rollout must not take them for those of the new version.
 */
function lastSettled(conditions: readonly Condition[], generation: number): number {
  return findCondition(conditions, 'Available')?.observedGeneration ?? generation - 1;
}

function observedEntry(
  entry: ManifestCondition,
  observation: Observation,
  { generation, now }: StatusMoment,
): ManifestCondition {
  let conditions = setCondition(entry.conditions ?? [], availableCondition(observation), now);
  if (observation.kind === 'denied')
    return deniedEntry({ ...entry, conditions }, observation, { generation, now });
  if (observation.kind !== 'present') {
    // The last result of a deleted object is valid for the current generation, too, if the rule
    // still exists.
    const ruled = new Set(observation.kind === 'incomplete' ? [] : observation.ruleTypes);
    conditions = conditions.map((condition) =>
      isRuleCondition(condition) && ruled.has(condition.type)
        ? { ...condition, observedGeneration: generation }
        : condition,
    );
    return { ...entry, conditions: pruneRuleConditions(conditions, generation) };
  }
  const values = observation.feedback?.values ?? [];
  const changed = !jsonEqual(entry.statusFeedback?.values ?? [], values);
  const synced = feedbackCondition(observation.feedback);
  // The time is when the values last changed.
  conditions = setCondition(conditions, changed ? { ...synced, lastTransitionTime: now } : synced, now);
  for (const rule of observation.rules)
    conditions = setCondition(conditions, { ...rule, observedGeneration: generation }, now);
  conditions = pruneRuleConditions(conditions, generation);
  const { statusFeedback: _old, ...rest } = entry;
  return { ...rest, ...(values.length === 0 ? {} : { statusFeedback: { values } }), conditions };
}

const NOT_ALLOWED = 'ExecutorNotAllowed';

/**
 * Feedback values are removed, because they are no longer current. Rule conditions keep their
 * status, since a completed work stays complete without its executor, but not their message, which
 * may quote the object.
 */
function deniedEntry(
  entry: ManifestCondition,
  { problem, ruleTypes, asksFeedback }: Extract<Observation, { kind: 'denied' }>,
  { generation, now }: StatusMoment,
): ManifestCondition {
  const { statusFeedback: values, conditions: before = [], ...rest } = entry;
  let conditions = before.map((condition) =>
    isRuleCondition(condition) && ruleTypes.includes(condition.type)
      ? { ...condition, observedGeneration: generation, message: `not evaluated again: ${problem}` }
      : condition,
  );
  if (asksFeedback || values !== undefined) {
    const synced: PlannedCondition = {
      type: 'StatusFeedbackSynced',
      status: 'False',
      reason: NOT_ALLOWED,
      message: problem,
    };
    const moved = values === undefined ? synced : { ...synced, lastTransitionTime: now };
    conditions = [...setCondition(conditions, moved, now)];
  }
  return { ...rest, conditions: pruneRuleConditions(conditions, generation) };
}

function availableCondition(observation: Observation): PlannedCondition {
  const plan = (status: Condition['status'], reason: string, message: string): PlannedCondition => ({
    type: 'Available',
    status,
    reason,
    message,
  });
  switch (observation.kind) {
    case 'present':
      return plan('True', 'ResourceAvailable', 'Resource is available');
    case 'absent':
      return plan('False', 'ResourceNotAvailable', 'Resource is not available');
    case 'failed':
      return plan('Unknown', 'FetchingResourceFailed', `Failed to fetch resource: ${observation.problem}`);
    case 'denied':
      return plan('Unknown', NOT_ALLOWED, observation.problem);
    case 'incomplete':
      return plan('Unknown', 'IncompleteResourceMeta', 'Resource meta is incomplete');
  }
}

function feedbackCondition(
  feedback: { readonly problem?: string | undefined } | undefined,
): PlannedCondition {
  const type = 'StatusFeedbackSynced';
  if (feedback === undefined) return { type, status: 'True', reason: 'NoStatusFeedbackSynced', message: '' };
  if (feedback.problem === undefined)
    return { type, status: 'True', reason: 'StatusFeedbackSynced', message: '' };
  return {
    type,
    status: 'False',
    reason: 'StatusFeedbackSyncFailed',
    message: `Sync status feedback failed with error ${feedback.problem}`,
  };
}

/** Conditions of removed rules have an older generation. */
function pruneRuleConditions(conditions: readonly Condition[], generation: number): readonly Condition[] {
  return conditions.filter(
    (condition) => !isRuleCondition(condition) || condition.observedGeneration === generation,
  );
}

function isRuleCondition(condition: Condition): boolean {
  return condition.reason.startsWith(RULE_REASON_PREFIX);
}

/** Whether the agent has reported the condition Applied. Availability is not reported before that. */
export function wasApplied(status: ManifestWorkStatus | undefined): boolean {
  return findCondition(status?.conditions, 'Applied') !== undefined;
}
