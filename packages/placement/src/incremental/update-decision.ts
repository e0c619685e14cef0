import { type Bitset, hasBit, putBit, readBits } from '../snapshot/bitset.ts';
import { makeScoreInput, SUCCESS } from '../decide/decide-placement.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import { type OwnDecisions, diffOwnDecisions, type OwnDecisionChange } from '../prior/own-decisions.ts';
import type { DecisionIndex } from '../prior/decision-index.ts';
import { isFeasible } from '../filter/feasible.ts';
import type { AmountRange, ScoreInput } from '../prioritize/prioritizer.ts';
import type { WeightedPrioritizer } from '../prioritize/registry.ts';
import { rankPositions } from '../select/rank.ts';
import { isCountUnchanged, isSelectionUnaffected } from './keep-selection.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';
import {
  type CachedScores,
  updateCachedScores,
  measureAmountRanges,
  scoreClusters,
} from '../prioritize/score-clusters.ts';
import type {
  RankedCluster,
  ClusterRanking,
  RankingBasis,
  RankingSplice,
} from '../decide/cluster-ranking.ts';
import { type SelectionChange, updateGroups } from '../select/decision-groups.ts';
import { finishDecision, requeueAtMs } from '../decide/finish-decision.ts';

/**
 * The changes since the last decision: the current decisions, and the clusters that a delta
 * touched.
 */
interface ChangesSinceDecision {
  readonly decisionIndex: DecisionIndex;
  readonly touched: readonly number[];
  /** Whether clusters that cannot be selected may be out of order in the ranking. Default: no. */
  readonly mayLag?: boolean | undefined;
}

/**
 * Decides a placement again from its ranking after a few clusters changed. Only the changed
 * clusters are filtered, scored and moved. These are the clusters that a delta touched, those that
 * this placement gained or lost the last time (Steady, NoSelectIfNew), and those that other
 * placements gained or lost since (Balance).
 *
 * Returns undefined if something changed that every score depends on (the largest amount, the
 * largest count), or if ranking all clusters costs no more. Then the placement must be decided in
 * full.
 *
 * Bits, cached scores and ranking of the state change in place.
 */
export function updateDecision(
  index: SchedulingIndex,
  state: DecidedState,
  changes: ChangesSinceDecision,
): DecidedState | undefined {
  const { ranking, compiled, feasible, kept } = state;
  const { policy } = compiled;
  const { decisionIndex } = changes;
  const prior = decisionIndex.own(compiled.key);
  const hasAvailable = compiled.eligibility.count > 0;
  if (ranking === undefined || feasible === undefined || !policy.ok) return undefined;
  if (prior.repeats.length > 0 || state.hadAvailable !== hasAvailable) return undefined;
  const most = kept.size === 0 ? ranking.basis.most : decisionIndex.maxCountWithout(prior);
  if (most !== ranking.basis.most) return undefined;
  const countLogLength = decisionIndex.countLog.length;
  if (
    changes.mayLag === true &&
    changes.touched.length === 0 &&
    isSelectionUnaffected(state, decisionIndex)
  ) {
    // Changed in place, because this is the most frequent case.
    state.countLogLength = countLogLength;
    return recomputeRequeueTime(index, state);
  }
  const input = makeScoreInput(index, { prior, counts: decisionIndex.counts, counted: prior.bits, most });
  const noticed = noticedClusters(index, state, changes);
  if (noticed === undefined) return undefined;
  const changed = changedClusters({ input, kept, prioritizers: policy.prioritizers }, noticed);
  const sameCount = isCountUnchanged(state);
  if (changed.length === 0) {
    ranking.basis = { ...ranking.basis, countLogLength };
    if (!sameCount) return selectFromRanking(index, { ...state, prior }, ranking);
    return recomputeRequeueTime(index, { ...state, prior, countLogLength });
  }
  const { added, removed, leaving } = filterAgain(state, feasible, { changed, prior });
  // Decisions of other placements change neither amounts nor feasible clusters.
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
  const splice = planFlagged(index, changed, () => ranking.plan({ leaving, joining }, index.scratch));
  ranking.basis = { ranges, most, countLogLength };
  if (!sameCount) {
    ranking.apply(splice, index.scratch);
    return selectFromRanking(index, { ...state, prior }, ranking);
  }
  return applyRankingChange(index, {
    state: { ...state, prior },
    ranking,
    splice,
    filtered: { gained: added, lost: removed },
  });
}

/** Clusters to check. Each is in one of the two lists. */
interface Noticed {
  /** Clusters that a delta touched, or that this placement gained or lost. */
  readonly own: readonly number[];
  /** Clusters that other placements gained or lost. */
  readonly counted: readonly number[];
}

/**
 * If more clusters changed than this plus a sixteenth of the ranking, ranking all of them again is
 * cheaper.
 */
const FEW_CHANGED = 16;

/** The clusters to check. Undefined if there are too many, or if they are no longer known. */
function noticedClusters(
  { clusterIndex, scratch: { flags } }: SchedulingIndex,
  { ranking, prior, kept, compiled }: DecidedState,
  { decisionIndex, touched }: ChangesSinceDecision,
): Noticed | undefined {
  const { count, basis } = ranking as ClusterRanking;
  const few = FEW_CHANGED + count / 16;
  // A cluster may occur several times, so more entries are read. Reading them must not cost more
  // than ranking all clusters again.
  const since = kept.size === 0 ? [] : decisionIndex.countLog.since(basis.countLogLength, 8 * few);
  if (since === undefined || touched.length > 8 * few) return undefined;
  const now = decisionIndex.own(compiled.key);
  const { gained, lost } = now === prior ? { gained: [], lost: [] } : diffOwnDecisions(prior, now);
  const [own, counted]: [number[], number[]] = [[], []];
  const note = (clusters: ArrayLike<number>, found: number[]): void => {
    for (let at = 0; at < clusters.length && own.length + counted.length <= few; at++) {
      const cluster = clusters[at] as number;
      if (cluster >= clusterIndex.size || flags[cluster] === 1) continue;
      flags[cluster] = 1;
      found.push(cluster);
    }
  };
  for (const clusters of [touched, gained, lost]) note(clusters, own);
  note(since, counted);
  for (const found of [own, counted]) for (const cluster of found) flags[cluster] = 0;
  return own.length + counted.length > few ? undefined : { own, counted };
}

/**
 * The clusters whose place may change, ascending. It also updates the cached scores of all given
 * clusters. A decision of another placement moves a cluster only if it changes the score. If
 * hundreds of placements select a cluster, one more or less often changes no score.
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

/** Updates the feasible bits. */
function filterAgain(
  { compiled }: DecidedState,
  feasible: Bitset,
  { changed, prior }: { readonly changed: Uint32Array; readonly prior: OwnDecisions },
) {
  const added: number[] = [];
  const removed: number[] = [];
  let leaving = 0;
  for (const cluster of changed) {
    const was = hasBit(feasible, cluster);
    const is = isFeasible(compiled, cluster, hasBit(prior.bits, cluster));
    if (was) leaving++;
    if (was !== is) (is ? added : removed).push(cluster);
    putBit(feasible, cluster, is);
  }
  return { added, removed, leaving };
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

/** Runs `plan` with the clusters flagged in the scratch buffers. */
function planFlagged<T>({ scratch: { flags } }: SchedulingIndex, clusters: Uint32Array, plan: () => T): T {
  for (const cluster of clusters) flags[cluster] = 1;
  const planned = plan();
  for (const cluster of clusters) flags[cluster] = 0;
  return planned;
}

const NO_CLUSTERS = new Uint32Array(0);

interface RankingUpdate {
  /** The last decision, with the previous decisions that count now. */
  readonly state: DecidedState;
  readonly ranking: ClusterRanking;
  readonly splice: RankingSplice;
  /** Clusters that started or stopped passing the filters. */
  readonly filtered: OwnDecisionChange;
}

/**
 * Applies a planned change of a ranking and returns the resulting decision. Long lists that do not
 * change stay the same objects.
 */
function applyRankingChange(index: SchedulingIndex, update: RankingUpdate): DecidedState {
  const { state, ranking, splice } = update;
  const { compiled, result, prior } = state;
  const before = state.selected.length;
  const count = ranking.count + splice.length - splice.replaced;
  const after = Math.min(compiled.limit, count);
  const isAll = before === ranking.count && after === count;
  const isSameLength = splice.length === splice.replaced;
  const until = (count: number): number =>
    isSameLength ? Math.min(count, splice.first + splice.length) : count;
  const left = isAll ? NO_CLUSTERS : ranking.order.slice(splice.first, until(before));
  ranking.apply(splice, index.scratch);
  const selected = ranking.order.subarray(0, after);
  const joined = selected.subarray(splice.first, until(after));
  const plan = compiled.groups;
  const isNamed = plan.ok && plan.named.length > 0;
  const isMoved = joined.length > 0 || left.length > 0 || after < before;
  if (!isMoved && !isNamed) {
    const { countLogLength } = ranking.basis;
    return recomputeRequeueTime(index, { ...state, selected, countLogLength });
  }
  const { names } = index.clusterIndex;
  const { totals } = ranking;
  const place = <T>(list: readonly T[], read: (at: number) => T): readonly T[] =>
    spliced(list, { first: splice.first, end: splice.first + joined.length, length: after }, read);
  const change = isAll ? update.filtered : clustersChange(index, left, joined);
  const isUnchanged = change.gained.length === 0 && change.lost.length === 0;
  const { feasible, kept } = state;
  return finishDecision(index, {
    compiled,
    stage: 'done',
    status: SUCCESS,
    feasible,
    prior,
    kept,
    ranking,
    selected,
    countLogLength: ranking.basis.countLogLength,
    scores: place(result.selectedScores, (at) => totals[at] as number),
    known: {
      names: place(result.selected, (at) => names[selected[at] as number] as string),
      groups: plan.ok ? updateGroups(plan, result.groups, namedChange(index, change)) : undefined,
      recorded: isUnchanged ? state.recorded : changedDecisions(state.recorded, change),
    },
  });
}

/**
 * The decision of a placement whose requested number of clusters changed, from an up-to-date
 * ranking.
 */
function selectFromRanking(
  index: SchedulingIndex,
  state: DecidedState,
  ranking: ClusterRanking,
): DecidedState {
  const { compiled, feasible, prior, kept } = state;
  const selected = ranking.order.subarray(0, compiled.limit);
  const scores = Array.from(ranking.totals.subarray(0, compiled.limit));
  const { countLogLength } = ranking.basis;
  return finishDecision(index, {
    ...{ compiled, stage: 'done', status: SUCCESS, feasible, prior, kept, ranking },
    ...{ countLogLength, selected, scores },
  });
}

/** The same decision with the requeue time computed again. */
function recomputeRequeueTime(index: SchedulingIndex, state: DecidedState): DecidedState {
  const againAtMs = requeueAtMs(index, state.compiled, state.prior);
  if (againAtMs === state.result.requeueAtMs) return state;
  return { ...state, result: { ...state.result, requeueAtMs: againAtMs } };
}

function namedChange(
  { clusterIndex: { names } }: SchedulingIndex,
  { gained, lost }: OwnDecisionChange,
): SelectionChange {
  const nameOf = (cluster: number): string => names[cluster] as string;
  return { gained: gained.map(nameOf), lost: lost.map(nameOf) };
}

/** A copy of a list with the given length and with new entries from `first` to `end`. */
function spliced<T>(
  list: readonly T[],
  { first, end, length }: { readonly first: number; readonly end: number; readonly length: number },
  read: (at: number) => T,
): readonly T[] {
  const copy = list.slice(0, length);
  for (let at = first; at < end; at++) {
    if (at < copy.length) copy[at] = read(at);
    else copy.push(read(at));
  }
  return copy;
}

function clustersChange(
  { scratch: { flags } }: SchedulingIndex,
  left: Uint32Array,
  joined: Uint32Array,
): OwnDecisionChange {
  for (const cluster of left) flags[cluster] = 1;
  const gained: number[] = [];
  for (const cluster of joined) {
    if (flags[cluster] === 1) flags[cluster] = 0;
    else gained.push(cluster);
  }
  const lost: number[] = [];
  for (const cluster of left) {
    if (flags[cluster] === 0) continue;
    flags[cluster] = 0;
    lost.push(cluster);
  }
  return { gained, lost };
}

function changedDecisions(before: OwnDecisions, { gained, lost }: OwnDecisionChange): OwnDecisions {
  const bits = before.bits.slice();
  for (const cluster of lost) putBit(bits, cluster, false);
  for (const cluster of gained) putBit(bits, cluster, true);
  return { bits, gone: new Set(), repeats: [] };
}
