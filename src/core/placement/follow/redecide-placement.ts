import type { Bitset } from '../../snapshot/bitset.ts';
import { hasBit, putBit, readBits } from '../../snapshot/bitset.ts';
import { scoreInput } from '../decide-placement.ts';
import type { DecidedState } from '../decided-state.ts';
import type { DecisionBook } from '../decision-book.ts';
import { isFeasible } from '../filter/feasible.ts';
import type { OwnDecisions } from '../own-decisions.ts';
import { decisionChange } from '../own-decisions.ts';
import type { AmountRange, ScoreInput } from '../prioritize/prioritizer.ts';
import type { WeightedPrioritizer } from '../prioritize/registry.ts';
import { rankPositions } from '../select/rank.ts';
import { moveSelection, timeAgain } from './move-selection.ts';
import type { SchedulingIndex } from '../scheduling-index.ts';
import { keepScoresOf, measureClusters, scoreClusters } from '../prioritize/score-clusters.ts';
import type { Entry, Standing, StandingBasis } from '../standing.ts';

/** What happened since the last decision: the decisions as they are, and clusters that a delta touched. */
export interface Happening {
  readonly book: DecisionBook;
  readonly touched: Iterable<number>;
}

/**
 * Decides a placement again after a few clusters changed, from how its clusters stood: only the changed ones are filtered
 * and scored, and take their new places. These are the clusters that a delta touched, those that this placement gained
 * or lost the last time (Steady, NoSelectIfNew), and those that other placements gained or lost since (Balance). When
 * something changed that every score hangs on (the largest amount, the largest count), or so much that ranking all
 * costs no more, the answer is undefined and the placement must be decided in full.
 *
 * The state's bits, kept scores and standing change in place.
 */
export function redecidePlacement(
  index: SchedulingIndex,
  state: DecidedState,
  happening: Happening,
): DecidedState | undefined {
  const { standing, compiled, feasible, kept } = state;
  const { policy } = compiled;
  const { book } = happening;
  const prior = book.own(compiled.key);
  const hasAvailable = compiled.eligibility.count > 0;
  if (standing === undefined || feasible === undefined || !policy.ok) return undefined;
  if (prior.repeats.length > 0 || state.hadAvailable !== hasAvailable) return undefined;
  const most = kept.size === 0 ? standing.basis.most : book.mostWithout(prior);
  const changed = most === standing.basis.most ? changedClusters(index, state, happening) : undefined;
  if (changed === undefined) return undefined;
  const journalLength = book.journal.length;
  if (changed.length === 0) {
    standing.basis = { ...standing.basis, journalLength };
    return timeAgain(index, { ...state, prior, journalLength });
  }
  const { came, went, leaving } = filterAgain(state, feasible, { changed, prior });
  const input = scoreInput(index, { prior, counts: book.counts, counted: prior.bits, most });
  const ranges = rangesOf(index, { input, feasible, prioritizers: policy.prioritizers });
  if (!sameRanges(ranges, standing.basis)) return undefined;
  keepScoresOf(policy.prioritizers, { ...input, clusters: changed }, kept);
  const clusters = changed.filter((cluster) => hasBit(feasible, cluster));
  const { totals, expired } = scoreClusters(policy.prioritizers, { ...input, clusters }, kept, { ranges });
  if (expired.length > 0) return undefined;
  const joining = Array.from(rankPositions(totals, clusters.length, undefined), (at): Entry => {
    return { cluster: clusters[at] as number, total: totals[at] as number };
  });
  const splice = planMarked(index, changed, () => standing.plan({ leaving, joining }, index.scratch));
  standing.basis = { ranges, most, journalLength };
  return moveSelection(index, {
    state: { ...state, prior },
    standing,
    splice,
    filtered: { gained: came, lost: went },
  });
}

/** Whether nothing has happened that this decision depends on, clusters apart. */
export function isSettled(
  { prior, kept, compiled, journalLength }: DecidedState,
  book: DecisionBook,
): boolean {
  const own = book.own(compiled.key);
  if (own !== prior) {
    const { gained, lost } = decisionChange(prior, own);
    if (gained.length + lost.length > 0) return false;
  }
  return kept.size === 0 || book.journal.length === journalLength;
}

/** So many changed clusters are looked at one by one, however few there are in all. */
const FEW = 64;

/** Ascending; undefined: too many, or no longer known. */
function changedClusters(
  { fleet, scratch: { marks } }: SchedulingIndex,
  { standing, prior, kept, compiled }: DecidedState,
  { book, touched }: Happening,
): Uint32Array | undefined {
  const { count, basis } = standing as Standing;
  // Clusters often change more than once; but reading all that happened must not cost more than ranking anew.
  const counted = kept.size === 0 ? [] : book.journal.since(basis.journalLength, 4 * (FEW + count));
  if (counted === undefined) return undefined;
  const own = book.own(compiled.key);
  const { gained, lost } = own === prior ? { gained: [], lost: [] } : decisionChange(prior, own);
  const found: number[] = [];
  for (const clusters of [touched, gained, lost, counted])
    for (const cluster of clusters) {
      if (cluster >= fleet.size || marks[cluster] === 1) continue;
      marks[cluster] = 1;
      found.push(cluster);
    }
  for (const cluster of found) marks[cluster] = 0;
  return found.length > FEW + count / 2 ? undefined : Uint32Array.from(found).sort();
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
  return measureClusters(prioritizers, { ...input, clusters: scratch.clusters.subarray(0, count) });
}

function sameRanges(ranges: readonly AmountRange[], { ranges: before }: StandingBasis): boolean {
  return ranges.every(({ least, most }, at) => least === before[at]?.least && most === before[at].most);
}

/** Runs with the clusters marked in the scratch. */
function planMarked<T>({ scratch: { marks } }: SchedulingIndex, clusters: Uint32Array, plan: () => T): T {
  for (const cluster of clusters) marks[cluster] = 1;
  const planned = plan();
  for (const cluster of clusters) marks[cluster] = 0;
  return planned;
}
