import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type {
  FeedbackValue,
  ManifestCondition,
  ManifestWorkStatus,
  ManifestResourceMeta,
} from '@berth/ocm/kind/manifest-work';
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
  const observedGeneration = isSettling ? lastAvailableGeneration(conditions, generation) : generation;
  conditions = setCondition(conditions, aggregateAvailable(manifests, observedGeneration), now);
  for (const rule of aggregateRules(manifests, generation)) conditions = setCondition(conditions, rule, now);
  conditions = pruneRuleConditions(conditions, generation);
  return { ...before, conditions, resourceStatus: { manifests } };
}

/**
 * The generation for which the work was last available. While a workload's status is about the version before, so are its
 * replicas, and a rollout must not take them for those of the new version.
 */
function lastAvailableGeneration(conditions: readonly Condition[], generation: number): number {
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

/** Reasons of conditions that come out of condition rules, on manifests and on the work. */
const RULE_REASON_PREFIX = 'ConditionRule';

function isRuleCondition(condition: Condition): boolean {
  return condition.reason.startsWith(RULE_REASON_PREFIX);
}

/** Whether the agent has reported the condition Applied. Availability is not reported before that. */
export function wasApplied(status: ManifestWorkStatus | undefined): boolean {
  return findCondition(status?.conditions, 'Applied') !== undefined;
}

/**
 * The condition Applied of the work from those of its manifests; undefined without manifests (then
 * it is unchanged).
 */
export function aggregateApplied(
  manifests: readonly ManifestCondition[],
  generation: number,
): Condition | undefined {
  if (manifests.length === 0) return undefined;
  const all = manifests.every((manifest) => findCondition(manifest.conditions, 'Applied')?.status === 'True');
  return {
    type: 'Applied',
    status: all ? 'True' : 'False',
    reason: all ? 'AppliedManifestWorkComplete' : 'AppliedManifestWorkFailed',
    message: all ? 'Apply manifest work complete' : 'Failed to apply manifest work',
    observedGeneration: generation,
  };
}

/** Available of the work from Available of its manifests. */
function aggregateAvailable(manifests: readonly ManifestCondition[], generation: number): Condition {
  const statuses = manifests.map((manifest) => findCondition(manifest.conditions, 'Available')?.status);
  const missing = statuses.filter((status) => status === 'False').length;
  const unknown = statuses.filter((status) => status === 'Unknown').length;
  const available = (status: Condition['status'], reason: string, message: string): Condition => ({
    type: 'Available',
    status,
    reason,
    message,
    observedGeneration: generation,
  });
  const total = manifests.length;
  if (missing > 0)
    return available('False', 'ResourcesNotAvailable', `${missing} of ${total} resources are not available`);
  if (unknown > 0)
    return available(
      'Unknown',
      'ResourcesStatusUnknown',
      `${unknown} of ${total} resources have unknown status`,
    );
  // The trailing space is part of the message in the API.
  if (!statuses.includes('True'))
    return available('Unknown', 'ResourcesStatusUnknown', 'cannot get any available resource ');
  return available('True', 'ResourcesAvailable', 'All resources are available');
}

/**
 * One condition of the work for each type of condition rules; manifests without the type are
 * ignored.
 */
function aggregateRules(manifests: readonly ManifestCondition[], generation: number): readonly Condition[] {
  const byType = new Map<string, Condition[]>();
  for (const manifest of manifests)
    for (const condition of manifest.conditions ?? [])
      if (condition.reason.startsWith(RULE_REASON_PREFIX))
        byType.set(condition.type, [...(byType.get(condition.type) ?? []), condition]);
  return [...byType].map(([type, conditions]) => ({
    type,
    status: aggregateStatus(type, conditions),
    reason: 'ConditionRulesAggregated',
    message:
      conditions.length === 1 && conditions[0] !== undefined
        ? conditions[0].message
        : `Aggregated from ${conditions.length} manifest conditions`,
    observedGeneration: generation,
  }));
}

/**
 * For `Progressing`, one True makes the work's condition True. For every other type, one False makes it False.
 */
function aggregateStatus(type: string, conditions: readonly Condition[]): Condition['status'] {
  const deciding = type === 'Progressing' ? 'True' : 'False';
  const otherwise = type === 'Progressing' ? 'False' : 'True';
  if (conditions.some(({ status }) => status === deciding)) return deciding;
  return conditions.some(({ status }) => status === 'Unknown') ? 'Unknown' : otherwise;
}

/**
 * The status of manifests after an apply: in the order of the spec, with feedback, Available and
 * rule conditions of the same manifest kept. The same manifest is the one with the same resource at
 * the same index, otherwise the only one with the same resource. Manifests that were removed from
 * the spec are dropped.
 */
export function mergeManifestStatus(
  applied: readonly ManifestCondition[],
  before: readonly ManifestCondition[],
  now: string,
): readonly ManifestCondition[] {
  return applied.map((manifest) => {
    const known = findManifestCondition(before, manifest.resourceMeta);
    if (known === undefined)
      return {
        ...manifest,
        conditions: (manifest.conditions ?? []).map((condition) => ({
          ...condition,
          lastTransitionTime: now,
        })),
      };
    const conditions = (manifest.conditions ?? []).reduce((list, condition) => {
      const old = list.find(({ type }) => type === condition.type);
      // A new generation is a new attempt, so the time is updated even if the result is the same.
      const renewed = old !== undefined && old.observedGeneration !== condition.observedGeneration;
      return setCondition(list, renewed ? { ...condition, lastTransitionTime: now } : condition, now);
    }, known.conditions ?? []);
    return { ...known, resourceMeta: manifest.resourceMeta, conditions };
  });
}

export function findManifestCondition(
  manifests: readonly ManifestCondition[],
  meta: ManifestResourceMeta,
): ManifestCondition | undefined {
  const same = manifests.filter(({ resourceMeta }) => identity(resourceMeta) === identity(meta));
  return (
    same.find(({ resourceMeta }) => resourceMeta.ordinal === meta.ordinal) ??
    (same.length === 1 ? same[0] : undefined)
  );
}

function identity(meta: ManifestResourceMeta): string {
  const { group = '', version = '', kind = '', resource = '', namespace = '', name = '' } = meta;
  return JSON.stringify([group, version, kind, resource, namespace, name]);
}

/**
 * Whether the status of a workload is about an older version of its spec: its controller has not seen the newest one.
 * Only for kinds whose controllers keep `observedGeneration` without fail; others may never write it again.
 */
export function hasOlderStatus({ apiVersion, metadata, status }: KubeObject): boolean {
  if (!apiVersion.startsWith('apps/')) return false;
  const { observedGeneration } = (status ?? {}) as { readonly observedGeneration?: unknown };
  return typeof observedGeneration === 'number' && observedGeneration < (metadata.generation ?? 0);
}
