import { putBit } from '../snapshot/bitset.ts';
import { SUCCESS } from '../decide/decide-placement.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import type { SelectionChange } from '../select/decision-groups.ts';
import { updateGroups } from '../select/decision-groups.ts';
import { finishDecision, requeueAtMs } from '../decide/finish-decision.ts';
import type { OwnDecisionChange, OwnDecisions } from '../prior/own-decisions.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';
import type { RankingSplice, ClusterRanking } from '../decide/cluster-ranking.ts';

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
export function applyRankingChange(index: SchedulingIndex, update: RankingUpdate): DecidedState {
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
export function selectFromRanking(
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
export function recomputeRequeueTime(index: SchedulingIndex, state: DecidedState): DecidedState {
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
