import type { RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';
import { berthPassPerCluster, berthPassPerGroup } from './berth-rules.ts';
import { type Parsed, type ParsedStrategy, parseRolloutStrategy, resolveSize } from './parse-strategy.ts';
import { splitMandatory, visibleGroups } from './rollout-groups.ts';
import type {
  ClusterRolloutStatus,
  RolloutEntry,
  RolloutGroup,
  RolloutPlan,
  RolloutRules,
} from './rollout-plan.ts';
import {
  type PassInput,
  type PassResult,
  upstreamPassPerCluster,
  upstreamPassPerGroup,
} from './upstream-rules.ts';

export interface RolloutInput {
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
export function planRollout(input: RolloutInput): Parsed<RolloutPlan> {
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
  const pass = runStrategy(strategy, { groups, existing, timing }, rules);
  if (!pass.ok) return pass;
  const { window, breach } = pass.value;
  return {
    ok: true,
    value: {
      rollout: window.rollout,
      timedOut: window.timedOut,
      removed,
      maxFailureBreach: breach,
      recheckAfterMs: window.recheckAfterMs(),
    },
  };
}

function runStrategy(strategy: ParsedStrategy, input: PassInput, rules: RolloutRules): Parsed<PassResult> {
  const perCluster = rules === 'upstream' ? upstreamPassPerCluster : berthPassPerCluster;
  const total = countClusters(input.groups);
  if (strategy.type === 'All') return passed(perCluster(input, { size: total, maxFailures: total }));
  const { mandatory, rest } = splitMandatory(input.groups, strategy.mandatory);
  if (mandatory.length > 0) {
    const first = runMandatory({ ...input, groups: mandatory }, rules);
    if (first !== undefined) return passed(first);
  }
  if (strategy.type === 'ProgressivePerGroup') {
    const perGroup = rules === 'upstream' ? upstreamPassPerGroup : berthPassPerGroup;
    return passed(perGroup({ ...input, groups: rest }, strategy.maxFailures));
  }
  if (!strategy.maxConcurrency.ok) return strategy.maxConcurrency;
  const restTotal = countClusters(rest);
  const size = resolveSize(strategy.maxConcurrency.value, restTotal, restTotal);
  const maxFailures = resolveSize(strategy.maxFailures, total, 0);
  return passed(perCluster({ ...input, groups: rest }, { size, maxFailures }));
}

function passed(value: PassResult): Parsed<PassResult> {
  return { ok: true, value };
}

/** The mandatory groups, which tolerate no failure; undefined once they are finished. */
function runMandatory(input: PassInput, rules: RolloutRules): PassResult | undefined {
  const noFailure = { value: 0, percent: false };
  if (rules === 'upstream') {
    const pass = upstreamPassPerGroup(input, noFailure);
    return pass.window.rollout.length > 0 || pass.window.timedOut.length > 0 ? pass : undefined;
  }
  const pass = berthPassPerGroup(input, noFailure);
  return pass.breach || pass.pending ? pass : undefined;
}

function countClusters(groups: readonly RolloutGroup[]): number {
  return groups.reduce((sum, group) => sum + group.clusters.length, 0);
}
