import type { Bitset } from '../../snapshot/bitset.ts';
import { readBits } from '../../snapshot/bitset.ts';
import type { DecidedState } from './decided-state.ts';
import { feasibleClusters, isEmpty, matchingClusters } from '../filter/feasible.ts';
import { finishDecision, misconfiguredStatus } from './finish-decision.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import type { DecisionCountScores } from '../prioritize/decision-count-scores.ts';
import type { ScoreInput } from '../prioritize/prioritizer.ts';
import type { CachedScores, ScoredClusters } from '../prioritize/score-clusters.ts';
import { cacheScores, scoreClusters } from '../prioritize/score-clusters.ts';
import type { ScheduleStatus } from '../result/schedule-result.ts';
import type { CompiledPlacement, SchedulingIndex } from '../index/scheduling-index.ts';
import { rankClusters, selectRankedClusters } from './select-ranked-clusters.ts';
import { ClusterRanking } from './cluster-ranking.ts';

/** The decisions before. */
export interface DecisionBasis {
  /** This placement's own. */
  readonly prior: OwnDecisions;
  /** How often each cluster is decided by any placement, which of these decisions are this one's, and the most others have. */
  readonly counts: Int32Array;
  readonly counted: Bitset;
  readonly most: number;
  /** Scores by these counts; absent if the counts are incomplete. */
  readonly countScores?: DecisionCountScores | undefined;
  /** Scores kept from an earlier decision, instead of the counts. */
  readonly kept?: CachedScores | undefined;
  /** The length of the journal of counts. */
  readonly journalLength: number;
  /** Keep the ranking, so that the decision can be brought up to date later. Default: no. */
  readonly keepRanking?: boolean | undefined;
  /** The placement's previous decision, which is no longer needed: its arrays are reused. */
  readonly old?: DecidedState | undefined;
}

const NOBODY = new Uint32Array(0);
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
  const feasible = feasibleClusters(compiled, prior.bits);
  if (!policy.ok) return stopped('taints', misconfiguredStatus('', policy.error), feasible);
  const { scratch, everyCluster } = index;
  const floats = scratch.floats.bind(scratch);
  const input = makeScoreInput(index, basis);
  const kept =
    basis.kept ??
    cacheScores(
      policy.prioritizers,
      { ...input, clusters: everyCluster },
      { old: basis.old?.kept, base: basis.countScores },
    );
  const clusters = scratch.clusters.subarray(0, readBits(feasible, scratch.clusters));
  const scored = scoreClusters(policy.prioritizers, { ...input, clusters }, kept, { floats });
  const { positions, spread, ranking } = select(index, { compiled, basis, clusters, scored });
  const selected = new Uint32Array(positions.length);
  const scores = new Array<number>(positions.length);
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i] as number;
    selected[i] = clusters[position] as number;
    scores[i] = scored.totals[position] as number;
  }
  const status = scored.expired.length === 0 ? SUCCESS : expiryWarning(scored.expired);
  const passed = { feasible, prior, kept, ranking, journalLength };
  return finishDecision(index, { compiled, stage: 'done', status, ...passed, spread, selected, scores });
}

interface Candidates {
  readonly compiled: CompiledPlacement;
  readonly basis: DecisionBasis;
  readonly clusters: Uint32Array;
  readonly scored: ScoredClusters;
}

/** Selects the best clusters; keeps the whole ranking if a later decision can start from it. */
function select(index: SchedulingIndex, { compiled, basis, clusters, scored }: Candidates) {
  const { limit, predicate, tolerations, spread } = compiled;
  const { totals, ranges, expired } = scored;
  const input = { compiled, clusterIndex: index.clusterIndex, clusters, totals, limit };
  const { most, journalLength, keepRanking = false } = basis;
  const keepsRanking =
    keepRanking &&
    basis.prior.repeats.length === 0 &&
    !compiled.avoidPreferNoSelect &&
    spread.length + expired.length === 0 &&
    predicate.problem === undefined &&
    tolerations.problem === undefined;
  if (!keepsRanking) return { ...selectRankedClusters(input), ranking: undefined };
  const ranked = rankClusters(input, clusters.length);
  const ranking = basis.old?.ranking ?? new ClusterRanking();
  ranking.rank(ranked, { clusters, totals }, { ranges, most, journalLength });
  return { positions: ranked.subarray(0, limit), spread: undefined, ranking };
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
    selected: NOBODY,
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
