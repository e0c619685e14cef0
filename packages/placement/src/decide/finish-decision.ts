import type { Condition } from '@berth/kube/model/object-meta';
import { type Instant, compareInstants, epochMsOf } from '@berth/kube/model/rfc3339';
import type { EligibilityClass } from '../filter/eligibility.ts';
import { matchTolerations } from '../filter/toleration-class.ts';
import type { CompiledPlacement, SchedulingIndex } from '../index/scheduling-index.ts';
import { type OwnDecisions, makeOwnDecisions } from '../prior/own-decisions.ts';
import type { CachedScores } from '../prioritize/score-clusters.ts';
import type { DecisionGroup, ScheduleResult, ScheduleStatus } from '../result/schedule-result.ts';
import { divideIntoGroups } from '../select/decision-groups.ts';
import { type Bitset, makeBitset, putBit, readBits, hasBit } from '../snapshot/bitset.ts';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
import type { ClusterRanking } from './cluster-ranking.ts';
import type { DecidedState } from './decided-state.ts';

/** The outcome of a decision, before conditions are written. */
export interface DecisionOutcome {
  readonly compiled: CompiledPlacement;
  readonly stage: DecidedState['stage'];
  readonly status: ScheduleStatus;
  readonly feasible?: Bitset | undefined;
  readonly prior: OwnDecisions;
  readonly kept?: CachedScores;
  readonly ranking?: ClusterRanking | undefined;
  readonly countLogLength: number | undefined;
  readonly selected?: Uint32Array;
  readonly scores?: readonly number[];
  readonly spread?: ScheduleResult['spread'];
  /** Parts of an earlier decision that can be reused; default: none. */
  readonly known?:
    | {
        /** Undefined if the clusters or their order differ. */
        readonly names: readonly string[] | undefined;
        /** Undefined if the clusters or their order differ. */
        readonly groups: readonly DecisionGroup[] | undefined;
        readonly recorded: OwnDecisions;
      }
    | undefined;
}

const NO_CLUSTERS = new Uint32Array(0);

/** Adds groups, conditions and names to a decision. */
export function finishDecision(index: SchedulingIndex, outcome: DecisionOutcome): DecidedState {
  const { compiled, stage, prior, selected = NO_CLUSTERS, scores = [], spread, known } = outcome;
  const { clusterIndex } = index;
  const groups = known?.groups ?? groupsOf(index, compiled, { selected, scores });
  const isMisgrouped = typeof groups === 'string';
  const status = isMisgrouped ? misconfiguredStatus('', groups) : outcome.status;
  const wantedCount = Number.isFinite(compiled.limit) ? compiled.limit : selected.length;
  const unscheduled = stage === 'done' ? Math.max(0, wantedCount - selected.length) : 0;
  const conditions = conditionsOf({
    status,
    eligibility: compiled.eligibility,
    wantedSets: compiled.placement.spec?.clusterSets ?? [],
    selectedCount: selected.length,
    unscheduled,
  });
  const satisfied = conditions.at(-1)?.status === 'True';
  return {
    compiled,
    stage,
    hadAvailable: compiled.eligibility.count > 0,
    feasible: outcome.feasible,
    prior,
    kept: outcome.kept ?? new Map(),
    selected,
    recorded: known?.recorded ?? makeOwnDecisions(isMisgrouped ? NO_CLUSTERS : selected, clusterIndex.size),
    ranking: isMisgrouped ? undefined : outcome.ranking,
    countLogLength: outcome.countLogLength,
    result: {
      placement: compiled.placement,
      outcome: status.code === 'Misconfigured' ? 'misconfigured' : satisfied ? 'scheduled' : 'unsatisfied',
      status,
      selected: known?.names ?? namesOf(selected, clusterIndex),
      selectedScores: scores,
      unscheduled,
      groups: isMisgrouped ? [] : groups,
      conditions,
      requeueAtMs: stage === 'done' ? requeueAtMs(index, compiled, prior) : undefined,
      ...(spread === undefined ? {} : { spread }),
    },
  };
}

export function misconfiguredStatus(plugin: string, message: string): ScheduleStatus {
  return { code: 'Misconfigured', plugin, message };
}

/** The groups, or an error text if the group strategy is invalid. */
function groupsOf(
  { clusterIndex }: SchedulingIndex,
  { groups: plan }: CompiledPlacement,
  { selected, scores }: { readonly selected: Uint32Array; readonly scores: readonly number[] },
): readonly DecisionGroup[] | string {
  if (!plan.ok) return plan.error;
  if (!plan.byScore) return divideIntoGroups(plan, clusterIndex, inNameOrder(selected, clusterIndex));
  const order = Array.from(selected.keys()).sort(
    (a, b) =>
      (scores[b] as number) - (scores[a] as number) || (selected[a] as number) - (selected[b] as number),
  );
  return divideIntoGroups(
    plan,
    clusterIndex,
    Uint32Array.from(order, (at) => selected[at] as number),
  );
}

function namesOf(clusters: Uint32Array, { names }: ClusterIndex): string[] {
  const list = new Array<string>(clusters.length);
  for (let i = 0; i < clusters.length; i++) list[i] = names[clusters[i] as number] as string;
  return list;
}

function inNameOrder(clusters: Uint32Array, clusterIndex: ClusterIndex): Uint32Array {
  if (clusters.length < 32) return clusters.toSorted();
  const bits = makeBitset(clusterIndex.size);
  for (let i = 0; i < clusters.length; i++) putBit(bits, clusters[i] as number, true);
  const ordered = new Uint32Array(clusters.length);
  readBits(bits, ordered);
  return ordered;
}

interface ConditionInput {
  readonly status: ScheduleStatus;
  readonly eligibility: EligibilityClass;
  /** `spec.clusterSets` */
  readonly wantedSets: readonly string[];
  readonly selectedCount: number;
  readonly unscheduled: number;
}

/**
 * PlacementMisconfigured and PlacementSatisfied, without transition times. Reasons and messages are
 * those of OCM.
 */
function conditionsOf(input: ConditionInput): readonly Condition[] {
  return [misconfigured(input.status), satisfied(input)];
}

/** Nearly all placements share this condition and `ALL_SCHEDULED`. */
const CONFIGURED: Condition = {
  type: 'PlacementMisconfigured',
  status: 'False',
  reason: 'Succeedconfigured',
  message: 'Placement configurations check pass',
};

function misconfigured({ code, plugin, message }: ScheduleStatus): Condition {
  const type = 'PlacementMisconfigured';
  return code === 'Misconfigured'
    ? { type, status: 'True', reason: 'Misconfigured', message: `${plugin}:${message}` }
    : CONFIGURED;
}

const ALL_SCHEDULED: Condition = {
  type: 'PlacementSatisfied',
  status: 'True',
  reason: 'AllDecisionsScheduled',
  message: 'All cluster decisions scheduled',
};

function satisfied({ eligibility, wantedSets, selectedCount, unscheduled }: ConditionInput): Condition {
  if (eligibility.validBindings.length === 0)
    return no(
      'NoManagedClusterSetBindings',
      'No valid ManagedClusterSetBindings found in placement namespace',
    );
  if (eligibility.sets.length === 0)
    return no(
      'NoIntersection',
      `None of ManagedClusterSets [${wantedSets.join(',')}] is bound to placement namespace`,
    );
  if (eligibility.count === 0)
    return no(
      'AllManagedClusterSetsEmpty',
      `All ManagedClusterSets [${eligibility.sets.join(',')}] have no member ManagedCluster`,
    );
  if (selectedCount === 0)
    return no('NoManagedClusterMatched', 'No ManagedCluster matches any of the cluster predicate');
  if (unscheduled > 0) return no('NotAllDecisionsScheduled', `${unscheduled} cluster decisions unscheduled`);
  return ALL_SCHEDULED;
}

function no(reason: string, message: string): Condition {
  return { type: 'PlacementSatisfied', status: 'False', reason, message };
}

/**
 * The earliest time at which a toleration for a previously selected cluster ends, in milliseconds
 * since the epoch. Undefined if no such toleration ends.
 */
export function requeueAtMs(
  { clusterIndex, now }: SchedulingIndex,
  { tolerations }: CompiledPlacement,
  prior: OwnDecisions,
): number | undefined {
  if (!tolerations.timed) return undefined;
  let first: Instant | undefined;
  for (const cluster of tolerations.timedClusters) {
    if (!hasBit(prior.bits, cluster) || !hasBit(tolerations.passDecided, cluster)) continue;
    for (const taint of clusterIndex.cluster(cluster).spec?.taints ?? []) {
      if (taint.effect === 'PreferNoSelect' || taint.effect === 'NoSelectIfNew') continue;
      const verdict = matchTolerations(taint, tolerations.tolerations, now);
      if (verdict.verdict !== 'tolerated' || verdict.until === undefined) continue;
      if (first === undefined || compareInstants(verdict.until, first) < 0) first = verdict.until;
    }
  }
  return first === undefined ? undefined : epochMsOf(first);
}
