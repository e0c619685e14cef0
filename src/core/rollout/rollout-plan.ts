import { parseGoDuration } from '@berth/kube/model/go-duration';
import type { IntOrString } from '@berth/kube/model/object-meta';
import type { MandatoryGroups, RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';
import { done, failed, type Outcome } from '@berth/runtime/outcome';

/**
 * The rollout status of a cluster. TimeOut and Skip are final: such a cluster is not changed again.
 */
export type RolloutStatus = 'ToApply' | 'Progressing' | 'Succeeded' | 'Failed' | 'TimeOut' | 'Skip';

/** The progress of a cluster that already received a template. Other clusters are not listed. */
export interface ClusterRolloutStatus {
  readonly clusterName: string;
  readonly status: RolloutStatus;
  /** Milliseconds since the epoch; absent counts as now. */
  readonly lastTransitionMs?: number | undefined;
}

export interface RolloutGroup {
  readonly index: number;
  readonly name: string;
  readonly clusters: readonly string[];
}

export interface RolloutEntry {
  readonly clusterName: string;
  readonly status: RolloutStatus;
  /** When this entry may change by the passing of time alone. Milliseconds since the epoch. */
  readonly recheckAtMs?: number | undefined;
  /** Only for clusters without a known status. */
  readonly group?: { readonly index: number; readonly name: string } | undefined;
}

export interface RolloutPlan {
  /** Clusters in the batch. Those with ToApply may get the new content now. */
  readonly rollout: readonly RolloutEntry[];
  readonly timedOut: readonly RolloutEntry[];
  /** Known clusters that are no longer in a group. */
  readonly removed: readonly RolloutEntry[];
  /** More clusters failed than maxFailures allows: nothing new starts. */
  readonly maxFailureBreach: boolean;
  readonly recheckAfterMs: number | undefined;
}

/**
 * `upstream`: exactly the results of OCM's helper, including its bugs. `berth`: the same rules
 * without these bugs (see docs/rollouts.md): mandatory groups depend only on their own clusters, a
 * tolerated failure counts in every group, gaps between group indexes are handled, a breach stops
 * every ToApply.
 */
export type RolloutRules = 'berth' | 'upstream';

/** A rollout strategy with its durations and sizes parsed. Durations in milliseconds; Infinity: no deadline. */
export type ParsedStrategy =
  | { readonly type: 'All'; readonly deadlineMs: number }
  | {
      readonly type: 'Progressive' | 'ProgressivePerGroup';
      readonly deadlineMs: number;
      readonly soakMs: number;
      readonly maxFailures: RolloutSize;
      /** Unset (0) for ProgressivePerGroup. As upstream, an invalid text is an error only if the value is needed. */
      readonly maxConcurrency: Outcome<RolloutSize>;
      readonly mandatory: NonNullable<MandatoryGroups['mandatoryDecisionGroups']>;
    };

export interface RolloutSize {
  readonly value: number;
  readonly percent: boolean;
}

const UNSET: RolloutSize = { value: 0, percent: false };

export function parseRolloutStrategy(strategy: RolloutStrategy): Outcome<ParsedStrategy> {
  switch (strategy.type) {
    case 'All': {
      const deadline = parseDeadline(strategy.all?.progressDeadline);
      return deadline.ok ? done({ type: 'All', deadlineMs: deadline.value }) : deadline;
    }
    case 'Progressive':
      return parseStaged('Progressive', strategy.progressive ?? {});
    case 'ProgressivePerGroup':
      return parseStaged('ProgressivePerGroup', strategy.progressivePerGroup ?? {});
    default:
      return failed(`incorrect rollout strategy type ${strategy.type ?? ''}`);
  }
}

function parseStaged(
  type: 'Progressive' | 'ProgressivePerGroup',
  config: NonNullable<RolloutStrategy['progressive']>,
): Outcome<ParsedStrategy> {
  const deadline = parseDeadline(config.progressDeadline);
  if (!deadline.ok) return deadline;
  const soakMs = parseGoDuration(config.minSuccessTime ?? '0');
  if (soakMs === undefined)
    return failed(`failed to parse the provided minSuccessTime: ${config.minSuccessTime}`);
  const maxFailures = parseSize(config.maxFailures, 'maxFailures');
  if (!maxFailures.ok) return maxFailures;
  const perCluster = type === 'Progressive' ? config.maxConcurrency : undefined;
  return done({
    type,
    deadlineMs: deadline.value,
    soakMs,
    maxFailures: maxFailures.value,
    maxConcurrency: parseSize(perCluster, 'maxConcurrency'),
    mandatory: config.mandatoryDecisionGroups ?? [],
  });
}

/** The API's own pattern for deadlines; it is loose at both ends, so the duration is read as well. */
const DEADLINE = /^[0-9]+[h|m|s]|None$/;

function parseDeadline(text: string | undefined): Outcome<number> {
  if (text === undefined || text === '' || text === 'None') return done(Number.POSITIVE_INFINITY);
  if (!DEADLINE.test(text)) return failed('invalid timeout format');
  const duration = parseGoDuration(text);
  return duration === undefined ? failed(`invalid duration "${text}" of progressDeadline`) : done(duration);
}

const PERCENT = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)%$/;

function parseSize(size: IntOrString | undefined, field: string): Outcome<RolloutSize> {
  if (size === undefined) return done(UNSET);
  if (typeof size === 'number') return done({ value: Math.trunc(size), percent: false });
  const percent = PERCENT.exec(size)?.[1];
  if (percent !== undefined) return done({ value: Number(percent), percent: true });
  return failed(
    `failed to parse the provided ${field}: got "${size}", expected an integer or a percentage like "25%"`,
  );
}

/** The number of clusters of a size, out of `total`; a number outside 1..total counts as not set. */
export function resolveSize(size: RolloutSize, total: number, unset: number): number {
  const value = size.percent ? Math.ceil((size.value / 100) * total) : size.value;
  return value <= 0 || value > total ? unset : value;
}
