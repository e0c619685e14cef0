import type { RolloutStrategy, MandatoryGroups } from '@berth/ocm/kind/manifest-work-replica-set';
import { compareUtf8 } from '@berth/runtime/text/utf8';
import { done, type Outcome } from '@berth/runtime/outcome';
import {
  type ClusterRolloutStatus,
  type ParsedStrategy,
  parseRolloutStrategy,
  resolveSize,
  type RolloutEntry,
  type RolloutGroup,
  type RolloutPlan,
  type RolloutRules,
  type RolloutSize,
  type RolloutStatus,
} from './rollout-plan.ts';
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  type PlacementDecision,
} from '@berth/ocm/kind/placement-decision';

interface RolloutInput {
  readonly strategy: RolloutStrategy;
  /** From `decisionGroups`. */
  readonly groups: readonly RolloutGroup[];
  readonly existing: readonly ClusterRolloutStatus[];
  readonly nowMs: number;
  /** Absent: `berth`. */
  readonly rules?: RolloutRules | undefined;
}

/**
 * Which clusters may get new content now. Pure: the same clusters, statuses and instant give the same plan. An error is
 * the user's: a strategy that cannot be read.
 */
export function planRollout(input: RolloutInput): Outcome<RolloutPlan> {
  const parsed = parseRolloutStrategy(input.strategy);
  if (!parsed.ok) return parsed;
  const rules = input.rules ?? 'berth';
  const groups = visibleGroups(input.groups, rules);
  const present = new Set(groups.flatMap((group) => group.clusters));
  const removed = input.existing
    .filter(({ clusterName }) => !present.has(clusterName))
    .map(({ clusterName, status }): RolloutEntry => ({ clusterName, status }));
  const existing = input.existing.filter(({ clusterName }) => present.has(clusterName));
  const strategy = parsed.value;
  if (strategy.type !== 'All' && rules === 'berth' && !strategy.maxConcurrency.ok)
    return strategy.maxConcurrency;
  const soakMs = strategy.type === 'All' ? 0 : strategy.soakMs;
  const timing = { nowMs: input.nowMs, deadlineMs: strategy.deadlineMs, soakMs };
  const planned = runStrategy(strategy, { groups, existing, timing }, rules);
  if (!planned.ok) return planned;
  const { batch, breach } = planned.value;
  return {
    ok: true,
    value: {
      rollout: batch.rollout,
      timedOut: batch.timedOut,
      removed,
      maxFailureBreach: breach,
      recheckAfterMs: batch.recheckAfterMs(),
    },
  };
}

function runStrategy(
  strategy: ParsedStrategy,
  input: StrategyInput,
  rules: RolloutRules,
): Outcome<StrategyResult> {
  const perCluster = rules === 'upstream' ? upstreamPerCluster : berthPerCluster;
  const total = countClusters(input.groups);
  if (strategy.type === 'All') return done(perCluster(input, { size: total, maxFailures: total }));
  const { mandatory, rest } = splitMandatory(input.groups, strategy.mandatory);
  if (mandatory.length > 0) {
    const first = runMandatory({ ...input, groups: mandatory }, rules);
    if (first !== undefined) return done(first);
  }
  if (strategy.type === 'ProgressivePerGroup') {
    const perGroup = rules === 'upstream' ? upstreamPerGroup : berthPerGroup;
    return done(perGroup({ ...input, groups: rest }, strategy.maxFailures));
  }
  if (!strategy.maxConcurrency.ok) return strategy.maxConcurrency;
  const restTotal = countClusters(rest);
  const size = resolveSize(strategy.maxConcurrency.value, restTotal, restTotal);
  const maxFailures = resolveSize(strategy.maxFailures, total, 0);
  return done(perCluster({ ...input, groups: rest }, { size, maxFailures }));
}

/** The mandatory groups, which tolerate no failure; undefined once they are finished. */
function runMandatory(input: StrategyInput, rules: RolloutRules): StrategyResult | undefined {
  const noFailure = { value: 0, percent: false };
  if (rules === 'upstream') {
    const result = upstreamPerGroup(input, noFailure);
    return result.batch.rollout.length > 0 || result.batch.timedOut.length > 0 ? result : undefined;
  }
  const result = berthPerGroup(input, noFailure);
  return result.breach || result.pending ? result : undefined;
}

function countClusters(groups: readonly RolloutGroup[]): number {
  return groups.reduce((sum, group) => sum + group.clusters.length, 0);
}

/** The result of one call of OCM's helper, including its bugs. `breach`: more failures than allowed. */
interface StrategyResult {
  readonly batch: RolloutBatch;
  readonly breach: boolean;
}

interface StrategyInput {
  readonly groups: readonly RolloutGroup[];
  /** Clusters of any group, the call's own or not. */
  readonly existing: readonly ClusterRolloutStatus[];
  readonly timing: RolloutTiming;
}

/** Clusters one by one in byte order of their names, at most `size` at a time, over all groups. */
function upstreamPerCluster(
  input: StrategyInput,
  limits: { readonly size: number; readonly maxFailures: number },
): StrategyResult {
  const batch = new RolloutBatch(input.timing);
  const seen = new Set<string>();
  let failures = 0;
  let breach = false;
  for (const known of [...input.existing].sort((a, b) => compareUtf8(a.clusterName, b.clusterName))) {
    seen.add(known.clusterName);
    const status = breach && known.status === 'ToApply' ? known.status : batch.place(known);
    if (isFailure(status)) {
      failures += 1;
      breach = failures > limits.maxFailures;
    }
    if (batch.rollout.length >= limits.size) return { batch, breach };
  }
  if (breach) return { batch, breach };
  const fresh = input.groups
    .flatMap((group) => group.clusters.map((cluster) => ({ cluster, group })))
    .filter(({ cluster }) => !seen.has(cluster))
    .sort((a, b) => compareUtf8(a.cluster, b.cluster));
  for (const { cluster, group } of fresh) {
    batch.addNew(cluster, group);
    if (batch.rollout.length >= limits.size) break;
  }
  return { batch, breach: false };
}

/** Group after group. The next one starts when the batch contains only failures that count. */
function upstreamPerGroup(input: StrategyInput, maxFailures: RolloutSize): StrategyResult {
  const batch = new RolloutBatch(input.timing);
  const known = new Map<string, RolloutStatus>();
  const waiting = new Set<string>();
  for (const cluster of input.existing)
    if (cluster.status === 'ToApply') waiting.add(cluster.clusterName);
    else known.set(cluster.clusterName, batch.place(cluster));
  let totalFailures = 0;
  for (const group of input.groups) {
    const limit = resolveSize(maxFailures, group.clusters.length, 0);
    let failures = 0;
    let breach = false;
    for (const cluster of [...group.clusters].sort(compareUtf8)) {
      const status = known.get(cluster);
      if (status === undefined && waiting.has(cluster))
        batch.place({ clusterName: cluster, status: 'ToApply' });
      else if (status === undefined) batch.addNew(cluster, group);
      else if (isFailure(status)) {
        failures += 1;
        breach = failures > limit;
      }
    }
    totalFailures += failures;
    if (batch.rollout.length - totalFailures > 0 || breach) return { batch, breach };
  }
  return { batch, breach: false };
}

function isFailure(status: RolloutStatus): boolean {
  return status === 'TimeOut' || status === 'Failed';
}

/** Time limits of one call, and the instant it happens at. All in milliseconds; Infinity: no deadline. */
interface RolloutTiming {
  readonly nowMs: number;
  readonly deadlineMs: number;
  readonly soakMs: number;
}

/** Collects the results of one call over the clusters. */
class RolloutBatch {
  readonly rollout: RolloutEntry[] = [];
  readonly timedOut: RolloutEntry[] = [];
  private readonly timing: RolloutTiming;

  constructor(timing: RolloutTiming) {
    this.timing = timing;
  }

  /**
   * Adds a known cluster to its result list and returns its status, which is TimeOut after the
   * deadline.
   */
  place(known: ClusterRolloutStatus): RolloutStatus {
    const { clusterName, status } = known;
    switch (status) {
      case 'ToApply':
        this.rollout.push({ clusterName, status });
        return status;
      case 'Succeeded':
        return this.placeSoaking(known);
      case 'TimeOut':
      case 'Skip':
        return status;
      case 'Progressing':
      case 'Failed':
        return this.placeWaiting(known);
    }
  }

  addNew(clusterName: string, group: RolloutGroup): void {
    this.rollout.push({ clusterName, status: 'ToApply', group: { index: group.index, name: group.name } });
  }

  /** The earliest future moment at which an entry of the batch changes by time alone. */
  recheckAfterMs(): number | undefined {
    const waits = this.rollout
      .map((entry) => (entry.recheckAtMs ?? 0) - this.timing.nowMs)
      .filter((wait) => wait > 0);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** A cluster that succeeded stays in the batch until it was successful for long enough. */
  private placeSoaking({ clusterName, status, lastTransitionMs }: ClusterRolloutStatus): RolloutStatus {
    const recheckAtMs = (lastTransitionMs ?? this.timing.nowMs) + this.timing.soakMs;
    if (this.timing.nowMs < recheckAtMs) this.rollout.push({ clusterName, status, recheckAtMs });
    return status;
  }

  private placeWaiting({ clusterName, status, lastTransitionMs }: ClusterRolloutStatus): RolloutStatus {
    if (this.timing.deadlineMs === Number.POSITIVE_INFINITY) {
      this.rollout.push({ clusterName, status });
      return status;
    }
    const recheckAtMs = (lastTransitionMs ?? this.timing.nowMs) + this.timing.deadlineMs;
    if (this.timing.nowMs < recheckAtMs) {
      this.rollout.push({ clusterName, status, recheckAtMs });
      return status;
    }
    this.timedOut.push({ clusterName, status: 'TimeOut', recheckAtMs });
    return 'TimeOut';
  }
}

/**
 * Clusters one by one in byte order of their names, at most `size` at a time. Unlike upstream, all
 * known clusters are evaluated before any starts, so that a breach is detected independent of the
 * names, and stops every ToApply.
 */
function berthPerCluster(
  input: StrategyInput,
  limits: { readonly size: number; readonly maxFailures: number },
): StrategyResult {
  const { batch, statuses } = placeKnown(input);
  const breach = [...statuses.values()].filter(isFailure).length > limits.maxFailures;
  if (breach) return { batch, breach };
  const toApply = input.groups
    .flatMap((group) => group.clusters.map((cluster) => ({ cluster, group })))
    .filter(({ cluster }) => (statuses.get(cluster) ?? 'ToApply') === 'ToApply')
    .sort((a, b) => compareUtf8(a.cluster, b.cluster));
  for (const { cluster, group } of toApply) {
    if (batch.rollout.length >= limits.size) break;
    if (statuses.has(cluster)) batch.place({ clusterName: cluster, status: 'ToApply' });
    else batch.addNew(cluster, group);
  }
  return { batch, breach };
}

/**
 * Group by group. A group is complete when each of its clusters has succeeded for long enough or
 * has failed within the tolerance of its own group; other groups do not matter. `pending`: a group
 * is not complete.
 */
function berthPerGroup(
  input: StrategyInput,
  maxFailures: RolloutSize,
): StrategyResult & { readonly pending: boolean } {
  const { batch, statuses } = placeKnown(input);
  for (const group of input.groups) {
    const clusters = [...group.clusters].sort(compareUtf8);
    const failures = clusters.filter((cluster) => isFailure(statuses.get(cluster) ?? 'ToApply')).length;
    if (failures > resolveSize(maxFailures, clusters.length, 0))
      return { batch, breach: true, pending: true };
    let pending = false;
    for (const cluster of clusters) {
      const status = statuses.get(cluster) ?? 'ToApply';
      if (status === 'ToApply') {
        if (statuses.has(cluster)) batch.place({ clusterName: cluster, status });
        else batch.addNew(cluster, group);
      }
      pending ||= status === 'ToApply' || isBusy(batch, cluster, status);
    }
    if (pending) return { batch, breach: false, pending };
  }
  return { batch, breach: false, pending: false };
}

/** Places all known clusters except those that wait for a free slot. */
function placeKnown(input: StrategyInput): {
  readonly batch: RolloutBatch;
  readonly statuses: ReadonlyMap<string, RolloutStatus>;
} {
  const batch = new RolloutBatch(input.timing);
  const statuses = new Map<string, RolloutStatus>();
  for (const known of [...input.existing].sort((a, b) => compareUtf8(a.clusterName, b.clusterName)))
    statuses.set(known.clusterName, known.status === 'ToApply' ? 'ToApply' : batch.place(known));
  return { batch, statuses };
}

/** Progressing, or succeeded but not for long enough. A tolerated failure does not block others. */
function isBusy(batch: RolloutBatch, cluster: string, status: RolloutStatus): boolean {
  return (
    status === 'Progressing' ||
    (status === 'Succeeded' && batch.rollout.some(({ clusterName }) => clusterName === cluster))
  );
}

/** The decision groups that a placement's decisions form, by their labels; ordered by index, then name. */
export function decisionGroups(decisions: readonly PlacementDecision[]): Outcome<readonly RolloutGroup[]> {
  const groups = new Map<string, { index: number; name: string; clusters: Set<string> }>();
  for (const decision of decisions) {
    const text = decision.metadata.labels?.[DECISION_GROUP_INDEX_LABEL] ?? '';
    if (!/^[+-]?\d+$/.test(text)) {
      const got = `got "${text}", expected an integer in label ${DECISION_GROUP_INDEX_LABEL}`;
      return {
        ok: false,
        error: `incorrect group index on PlacementDecision ${decision.metadata.name}: ${got}`,
      };
    }
    const name = decision.metadata.labels?.[DECISION_GROUP_NAME_LABEL] ?? '';
    const key = `${Number(text)}/${name}`;
    const group = groups.get(key) ?? { index: Number(text), name, clusters: new Set<string>() };
    for (const { clusterName } of decision.status?.decisions ?? []) group.clusters.add(clusterName);
    groups.set(key, group);
  }
  const ordered = [...groups.values()].sort((a, b) => a.index - b.index || compareUtf8(a.name, b.name));
  return { ok: true, value: ordered.map((group) => ({ ...group, clusters: [...group.clusters] })) };
}

/**
 * The groups that the rules consider. Upstream iterates over the indexes 0..n-1, so it ignores
 * groups after a gap; the rules of Berth consider all groups.
 */
function visibleGroups(groups: readonly RolloutGroup[], rules: RolloutRules): readonly RolloutGroup[] {
  return rules === 'upstream'
    ? groups.filter((group) => group.index >= 0 && group.index < groups.length)
    : groups;
}

/** Splits groups into mandatory ones and the rest. A name selects all groups of that name; unknown entries select none. */
function splitMandatory(
  groups: readonly RolloutGroup[],
  wanted: NonNullable<MandatoryGroups['mandatoryDecisionGroups']>,
): { readonly mandatory: readonly RolloutGroup[]; readonly rest: readonly RolloutGroup[] } {
  const isMandatory = (group: RolloutGroup): boolean =>
    wanted.some(({ groupName, groupIndex }) =>
      groupName !== undefined && groupName !== ''
        ? group.name === groupName
        : group.index === (groupIndex ?? 0),
    );
  return {
    mandatory: groups.filter(isMandatory),
    rest: groups.filter((group) => !isMandatory(group)),
  };
}
