import { feasibleClusters, isEmpty, matchingClusters } from '../filter/feasible.ts';
import type { CompiledPlacement, SchedulingIndex } from '../index/scheduling-index.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import type { DecisionCountScores } from '../prioritize/decision-count-scores.ts';
import { integerTotals } from '../prioritize/integer-totals.ts';
import type { ScoreInput, AmountRange } from '../prioritize/prioritizer.ts';
import type { WeightedPrioritizer } from '../prioritize/registry.ts';
import {
  type CachedScores,
  type ScoredClusters,
  cacheScores,
  scoreClusters,
} from '../prioritize/score-clusters.ts';
import type { ScheduleStatus, ScheduleResult } from '../result/schedule-result.ts';
import { type RankedClusters, rankByCounting } from '../select/rank.ts';
import { type Bitset, hasBit, readBits } from '../snapshot/bitset.ts';
import { ClusterRanking } from './cluster-ranking.ts';
import type { DecidedState } from './decided-state.ts';
import { finishDecision, misconfiguredStatus, type DecisionOutcome } from './finish-decision.ts';
import { selectRankedClusters } from './select-ranked-clusters.ts';

/** The earlier decisions that a decision starts from. */
export interface DecisionBasis {
  /** The previous decisions of this placement. */
  readonly prior: OwnDecisions;
  /**
   * How many placements select each cluster. `counted` has the clusters for which this placement is
   * in the count. `most` is the largest count of the other placements.
   */
  readonly counts: Int32Array;
  readonly counted: Bitset;
  readonly most: number;
  /** Scores for these counts; undefined if the counts do not include all decisions. */
  readonly countScores?: DecisionCountScores | undefined;
  /** Scores from an earlier decision. They are used instead of the counts. */
  readonly kept?: CachedScores | undefined;
  /** The current length of the log of decision counts. */
  readonly countLogLength: number;
  /** Whether to keep the ranking, so that the decision can be updated later. Default: no. */
  readonly keepRanking?: boolean | undefined;
  /** The previous decision of the placement. It is no longer needed, so its arrays are reused. */
  readonly old?: DecidedState | undefined;
}

const NO_CLUSTERS = new Uint32Array(0);
export const SUCCESS: ScheduleStatus = { code: 'Success', plugin: '', message: '' };

/** Decides one placement: candidates, filters, scores, selection, groups, conditions. */
export function decidePlacement(
  index: SchedulingIndex,
  compiled: CompiledPlacement,
  basis: DecisionBasis,
): DecidedState {
  const { prior, countLogLength } = basis;
  const { policy, predicate, tolerations } = compiled;
  const stopped = (stage: DecidedState['stage'], status: ScheduleStatus, feasible?: Bitset): DecidedState =>
    finishDecision(index, { compiled, stage, status, feasible, prior, countLogLength: countLogLength });
  if (compiled.skipped) return skip(compiled, basis);
  if (predicate.problem !== undefined && compiled.eligibility.count > 0)
    return stopped('none', misconfiguredStatus('Predicate', predicate.problem));
  if (tolerations.problem !== undefined && !isEmpty(matchingClusters(compiled)))
    return stopped('predicate', misconfiguredStatus('TaintToleration', tolerations.problem));
  const feasible = feasibleClusters(compiled, prior.bits, basis.old?.feasible);
  if (!policy.ok) return stopped('taints', misconfiguredStatus('', policy.error), feasible);
  const input = makeScoreInput(index, basis);
  const kept =
    basis.kept ??
    cacheScores(
      policy.prioritizers,
      { ...input, clusters: index.everyCluster },
      { old: basis.old?.kept, base: basis.countScores },
    );
  const keepsRanking = mayKeepRanking(compiled, basis);
  const candidates = { compiled, prioritizers: policy.prioritizers, feasible, input, kept };
  const ordered = orderFeasible(index, candidates, keepsRanking ? Infinity : compiled.limit);
  const { spread, expired } = ordered;
  const best = ordered.order.subarray(0, Math.max(0, compiled.limit));
  const scores = new Array<number>(best.length);
  for (let at = 0; at < best.length; at++) scores[at] = ordered.totals[at] as number;
  // Compare before the old ranking is overwritten.
  const { old } = basis;
  const known = old && reuseUnchangedParts(old, { compiled, order: best });
  const ranking = keepsRanking && expired.length === 0 ? keepRanking(ordered, basis) : undefined;
  const selected = ranking === undefined ? best.slice() : ranking.order.subarray(0, best.length);
  const status = expired.length === 0 ? SUCCESS : expiryWarning(expired);
  const passed = { feasible, prior, kept, ranking, countLogLength };
  return finishDecision(index, {
    compiled,
    stage: 'done',
    status,
    ...passed,
    spread,
    selected,
    scores,
    known,
  });
}

/** Whether a later decision can start from the complete ranking. If scores expire, it cannot. */
function mayKeepRanking(
  { predicate, tolerations, spread, avoidPreferNoSelect }: CompiledPlacement,
  { keepRanking = false, prior }: DecisionBasis,
): boolean {
  return (
    keepRanking &&
    prior.repeats.length === 0 &&
    !avoidPreferNoSelect &&
    spread.length === 0 &&
    predicate.problem === undefined &&
    tolerations.problem === undefined
  );
}

function keepRanking(ordered: OrderedClusters, { most, countLogLength, old }: DecisionBasis): ClusterRanking {
  const ranking = old?.ranking ?? new ClusterRanking();
  ranking.rank(ordered, { ranges: ordered.ranges, most, countLogLength });
  return ranking;
}

function expiryWarning(expired: ScoredClusters['expired']): ScheduleStatus {
  const { plugin, objects } = expired.at(-1) as ScoredClusters['expired'][number];
  return { code: 'Warning', plugin, message: `AddOnPlacementScores ${objects.join(' ')} expired` };
}

/** The input of prioritizers, from the index. */
export function makeScoreInput(
  index: SchedulingIndex,
  { prior, counts, counted, most }: Pick<DecisionBasis, 'prior' | 'counts' | 'counted' | 'most'>,
): Omit<ScoreInput, 'clusters'> {
  const { clusterIndex, now } = index;
  return {
    nameOf: (cluster) => clusterIndex.names[cluster] as string,
    amounts: (resource) => clusterIndex.amounts(resource),
    addOnScore: (cluster, name) => clusterIndex.scoresOf(clusterIndex.names[cluster] as string).get(name),
    decided: prior.bits,
    decisionCounts: counts,
    ownDecisions: counted,
    mostDecisions: most,
    now,
  };
}

function skip(compiled: CompiledPlacement, { prior, countLogLength }: DecisionBasis): DecidedState {
  return {
    compiled,
    stage: 'skipped',
    hadAvailable: compiled.eligibility.count > 0,
    feasible: undefined,
    prior,
    kept: new Map(),
    selected: NO_CLUSTERS,
    recorded: prior,
    countLogLength: countLogLength,
    result: {
      placement: compiled.placement,
      outcome: 'skipped',
      status: SUCCESS,
      selected: [],
      selectedScores: [],
      unscheduled: 0,
      groups: [],
      conditions: [],
      requeueAtMs: undefined,
    },
  };
}

interface OrderedClusters extends RankedClusters {
  readonly spread: ScheduleResult['spread'];
  readonly ranges: readonly AmountRange[];
  readonly expired: ScoredClusters['expired'];
}

interface Candidates {
  readonly compiled: CompiledPlacement;
  readonly prioritizers: readonly WeightedPrioritizer[];
  readonly feasible: Bitset;
  readonly input: Omit<ScoreInput, 'clusters'>;
  readonly kept: CachedScores;
}

const NO_SCORES: ScoredClusters['expired'] = [];

/** At most `limit` feasible clusters, best first, in scratch buffers. */
function orderFeasible(index: SchedulingIndex, candidates: Candidates, limit: number): OrderedClusters {
  const { scratch } = index;
  const { compiled, prioritizers } = candidates;
  const into = { order: scratch.ranked, totals: scratch.rankedTotals };
  const { bound } = compiled;
  if (bound === undefined) return orderByComparing(index, candidates, { limit, into });
  const scored = integerTotals(candidates, prioritizers, scratch);
  const { order, totals } = rankByCounting(scored, { bound, limit }, { ...into, levels: scratch.levels });
  return { order, totals, spread: undefined, ranges: scored.ranges, expired: NO_SCORES };
}

/**
 * Orders by comparing: for totals that are not small integers, for spread constraints, and for the
 * opt-in tie-break.
 */
function orderByComparing(
  { clusterIndex, scratch }: SchedulingIndex,
  { compiled, prioritizers, feasible, input, kept }: Candidates,
  { limit, into }: { readonly limit: number; readonly into: RankedClusters },
): OrderedClusters {
  const clusters = scratch.clusters.subarray(0, readBits(feasible, scratch.clusters));
  const floats = scratch.floats.bind(scratch);
  const { totals, ranges, expired } = scoreClusters(prioritizers, { ...input, clusters }, kept, { floats });
  const { positions, spread } = selectRankedClusters({ compiled, clusterIndex, clusters, totals, limit });
  for (let at = 0; at < positions.length; at++) {
    const position = positions[at] as number;
    into.order[at] = clusters[position] as number;
    into.totals[at] = totals[position] as number;
  }
  return {
    order: into.order.subarray(0, positions.length),
    totals: into.totals.subarray(0, positions.length),
    ...{ spread, ranges, expired },
  };
}

/**
 * The parts of a decision that are the same as in the previous one. They stay the same objects.
 * Most placements that are decided again select the same clusters, and making thousands of names
 * and groups again takes longer than deciding.
 */
function reuseUnchangedParts(
  { stage, compiled, result, recorded, selected }: DecidedState,
  after: { readonly compiled: CompiledPlacement; readonly order: Uint32Array },
): DecisionOutcome['known'] {
  const { groups: plan } = after.compiled;
  // Named groups also depend on labels, and groups sorted by score on scores.
  if (stage !== 'done' || plan !== compiled.groups || !plan.ok || plan.named.length > 0 || plan.byScore)
    return undefined;
  const { order } = after;
  if (order.length !== selected.length || !areRecorded(order, recorded)) return undefined;
  const names = sameOrder(selected, order) ? result.selected : undefined;
  return { names, groups: result.groups, recorded };
}

function areRecorded(clusters: Uint32Array, { bits }: OwnDecisions): boolean {
  for (let at = 0; at < clusters.length; at++) if (!hasBit(bits, clusters[at] as number)) return false;
  return true;
}

/** Compares two lists of the same length. */
function sameOrder(before: Uint32Array, after: Uint32Array): boolean {
  for (let at = 0; at < after.length; at++) if (before[at] !== after[at]) return false;
  return true;
}
