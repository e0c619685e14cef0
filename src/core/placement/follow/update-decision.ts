import type { Bitset } from '../../snapshot/bitset.ts';
import { hasBit, putBit, readBits } from '../../snapshot/bitset.ts';
import { makeScoreInput } from '../decide/decide-placement.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import type { DecisionIndex } from '../prior/decision-index.ts';
import { isFeasible } from '../filter/feasible.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import { diffOwnDecisions } from '../prior/own-decisions.ts';
import type { AmountRange, ScoreInput } from '../prioritize/prioritizer.ts';
import type { WeightedPrioritizer } from '../prioritize/registry.ts';
import { rankPositions } from '../select/rank.ts';
import { isDecidedAsAsked, isSelectionUnaffected } from './keep-selection.ts';
import { applyRankingChange, recomputeRequeueTime, selectFromRanking } from './apply-ranking-change.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';
import type { CachedScores } from '../prioritize/score-clusters.ts';
import { updateCachedScores, measureAmountRanges, scoreClusters } from '../prioritize/score-clusters.ts';
import type { RankedCluster, ClusterRanking, RankingBasis } from '../decide/cluster-ranking.ts';

/** What happened since the last decision: the decisions as they are, and clusters that a delta touched. */
export interface ChangesSinceDecision {
  readonly decisionIndex: DecisionIndex;
  readonly touched: readonly number[];
  /** Clusters that cannot be selected may be out of order. Default: no. */
  readonly mayLag?: boolean | undefined;
}

/**
 * Decides a placement again after a few clusters changed, from its ranking: only the changed ones are filtered and
 * scored, and take their new places. These are the clusters that a delta touched, those that this placement gained or
 * lost the last time (Steady, NoSelectIfNew), and those that other placements gained or lost since (Balance). When
 * something changed that every score depends on (the largest amount, the largest count), or so much that ranking all
 * costs no more, the answer is undefined and the placement must be decided in full.
 *
 * The state's bits, kept scores and ranking change in place.
 */
export function updateDecision(
  index: SchedulingIndex,
  state: DecidedState,
  happening: ChangesSinceDecision,
): DecidedState | undefined {
  const { ranking, compiled, feasible, kept } = state;
  const { policy } = compiled;
  const { decisionIndex } = happening;
  const prior = decisionIndex.own(compiled.key);
  const hasAvailable = compiled.eligibility.count > 0;
  if (ranking === undefined || feasible === undefined || !policy.ok) return undefined;
  if (prior.repeats.length > 0 || state.hadAvailable !== hasAvailable) return undefined;
  const most = kept.size === 0 ? ranking.basis.most : decisionIndex.maxCountWithout(prior);
  if (most !== ranking.basis.most) return undefined;
  const journalLength = decisionIndex.journal.length;
  if (
    happening.mayLag === true &&
    happening.touched.length === 0 &&
    isSelectionUnaffected(state, decisionIndex)
  ) {
    // In place: most states come this way in most passes.
    state.journalLength = journalLength;
    return recomputeRequeueTime(index, state);
  }
  const input = makeScoreInput(index, { prior, counts: decisionIndex.counts, counted: prior.bits, most });
  const noticed = noticedClusters(index, state, happening);
  if (noticed === undefined) return undefined;
  const changed = changedClusters({ input, kept, prioritizers: policy.prioritizers }, noticed);
  const isAsked = isDecidedAsAsked(state);
  if (changed.length === 0) {
    ranking.basis = { ...ranking.basis, journalLength };
    if (!isAsked) return selectFromRanking(index, { ...state, prior }, ranking);
    return recomputeRequeueTime(index, { ...state, prior, journalLength });
  }
  const { came, went, leaving } = filterAgain(state, feasible, { changed, prior });
  // What others decided changes no amount, and who is feasible neither.
  const { ranges } =
    noticed.own.length === 0
      ? ranking.basis
      : { ranges: rangesOf(index, { input, feasible, prioritizers: policy.prioritizers }) };
  if (!sameRanges(ranges, ranking.basis)) return undefined;
  const clusters = changed.filter((cluster) => hasBit(feasible, cluster));
  const { totals, expired } = scoreClusters(policy.prioritizers, { ...input, clusters }, kept, { ranges });
  if (expired.length > 0) return undefined;
  const joining = Array.from(rankPositions(totals, clusters.length, undefined), (at): RankedCluster => {
    return { cluster: clusters[at] as number, total: totals[at] as number };
  });
  const splice = planMarked(index, changed, () => ranking.plan({ leaving, joining }, index.scratch));
  ranking.basis = { ranges, most, journalLength };
  if (!isAsked) {
    ranking.apply(splice, index.scratch);
    return selectFromRanking(index, { ...state, prior }, ranking);
  }
  return applyRankingChange(index, {
    state: { ...state, prior },
    ranking,
    splice,
    filtered: { gained: came, lost: went },
  });
}

/** Clusters to look at, each in one of the lists. */
interface Noticed {
  /** Touched by a delta, or gained or lost by this placement. */
  readonly own: readonly number[];
  /** Gained or lost by other placements. */
  readonly counted: readonly number[];
}

/** More changed clusters than these, and than a sixteenth of the ranking, cost more than ranking all of them again. */
const FEW_CHANGED = 16;

/** Undefined: too many, or no longer known. */
function noticedClusters(
  { clusterIndex, scratch: { marks } }: SchedulingIndex,
  { ranking, prior, kept, compiled }: DecidedState,
  { decisionIndex, touched }: ChangesSinceDecision,
): Noticed | undefined {
  const { count, basis } = ranking as ClusterRanking;
  const few = FEW_CHANGED + count / 16;
  // A cluster may be listed several times; but to read all that happened must not cost more than to rank again.
  const since = kept.size === 0 ? [] : decisionIndex.journal.since(basis.journalLength, 8 * few);
  if (since === undefined || touched.length > 8 * few) return undefined;
  const now = decisionIndex.own(compiled.key);
  const { gained, lost } = now === prior ? { gained: [], lost: [] } : diffOwnDecisions(prior, now);
  const [own, counted]: [number[], number[]] = [[], []];
  const note = (clusters: ArrayLike<number>, found: number[]): void => {
    for (let at = 0; at < clusters.length && own.length + counted.length <= few; at++) {
      const cluster = clusters[at] as number;
      if (cluster >= clusterIndex.size || marks[cluster] === 1) continue;
      marks[cluster] = 1;
      found.push(cluster);
    }
  };
  for (const clusters of [touched, gained, lost]) note(clusters, own);
  note(since, counted);
  for (const found of [own, counted]) for (const cluster of found) marks[cluster] = 0;
  return own.length + counted.length > few ? undefined : { own, counted };
}

/**
 * Those whose place may be another one, ascending, with the kept scores of all brought up to date. What others decided moves a
 * cluster only by its score; where clusters are decided hundreds of times, one more or less changes none.
 */
function changedClusters(
  scoring: {
    readonly input: Omit<ScoreInput, 'clusters'>;
    readonly kept: CachedScores;
    readonly prioritizers: readonly WeightedPrioritizer[];
  },
  { own, counted }: Noticed,
): Uint32Array {
  const { input, kept, prioritizers } = scoring;
  const clusters = Uint32Array.from([...own, ...counted]);
  const moved = updateCachedScores(prioritizers, { ...input, clusters }, kept);
  return Uint32Array.from([...own, ...counted.filter((cluster) => moved.has(cluster))]).sort();
}

/** Brings the feasible bits up to date. */
function filterAgain(
  { compiled }: DecidedState,
  feasible: Bitset,
  { changed, prior }: { readonly changed: Uint32Array; readonly prior: OwnDecisions },
) {
  const came: number[] = [];
  const went: number[] = [];
  let leaving = 0;
  for (const cluster of changed) {
    const was = hasBit(feasible, cluster);
    const is = isFeasible(compiled, cluster, hasBit(prior.bits, cluster));
    if (was) leaving++;
    if (was !== is) (is ? came : went).push(cluster);
    putBit(feasible, cluster, is);
  }
  return { came, went, leaving };
}

function rangesOf(
  { scratch }: SchedulingIndex,
  given: {
    readonly input: Omit<ScoreInput, 'clusters'>;
    readonly feasible: Uint32Array;
    readonly prioritizers: readonly WeightedPrioritizer[];
  },
): readonly AmountRange[] {
  const { input, feasible, prioritizers } = given;
  const isMeasured = prioritizers.some(({ prioritizer }) => prioritizer.measure !== undefined);
  const count = isMeasured ? readBits(feasible, scratch.clusters) : 0;
  return measureAmountRanges(prioritizers, { ...input, clusters: scratch.clusters.subarray(0, count) });
}

function sameRanges(ranges: readonly AmountRange[], { ranges: before }: RankingBasis): boolean {
  return ranges.every(({ least, most }, at) => least === before[at]?.least && most === before[at].most);
}

/** Runs with the clusters marked in the scratch. */
function planMarked<T>({ scratch: { marks } }: SchedulingIndex, clusters: Uint32Array, plan: () => T): T {
  for (const cluster of clusters) marks[cluster] = 1;
  const planned = plan();
  for (const cluster of clusters) marks[cluster] = 0;
  return planned;
}
