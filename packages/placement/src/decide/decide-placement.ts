import type { Bitset } from '../snapshot/bitset.ts';
import type { DecidedState } from './decided-state.ts';
import { feasibleClusters, isEmpty, matchingClusters } from '../filter/feasible.ts';
import { finishDecision, misconfiguredStatus } from './finish-decision.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import type { DecisionCountScores } from '../prioritize/decision-count-scores.ts';
import type { ScoreInput } from '../prioritize/prioritizer.ts';
import type { CachedScores, ScoredClusters } from '../prioritize/score-clusters.ts';
import { cacheScores } from '../prioritize/score-clusters.ts';
import type { ScheduleStatus } from '../result/schedule-result.ts';
import type { CompiledPlacement, SchedulingIndex } from '../index/scheduling-index.ts';
import { type OrderedClusters, orderFeasible } from './order-feasible.ts';
import { reuseUnchangedParts } from './reuse-unchanged-parts.ts';
import { ClusterRanking } from './cluster-ranking.ts';

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
  /** The current length of the journal of decision counts. */
  readonly journalLength: number;
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
  const { prior, journalLength } = basis;
  const { policy, predicate, tolerations } = compiled;
  const stopped = (stage: DecidedState['stage'], status: ScheduleStatus, feasible?: Bitset): DecidedState =>
    finishDecision(index, { compiled, stage, status, feasible, prior, journalLength });
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
  const passed = { feasible, prior, kept, ranking, journalLength };
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

function keepRanking(ordered: OrderedClusters, { most, journalLength, old }: DecisionBasis): ClusterRanking {
  const ranking = old?.ranking ?? new ClusterRanking();
  ranking.rank(ordered, { ranges: ordered.ranges, most, journalLength });
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

function skip(compiled: CompiledPlacement, { prior, journalLength }: DecisionBasis): DecidedState {
  return {
    compiled,
    stage: 'skipped',
    hadAvailable: compiled.eligibility.count > 0,
    feasible: undefined,
    prior,
    kept: new Map(),
    selected: NO_CLUSTERS,
    recorded: prior,
    journalLength,
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
