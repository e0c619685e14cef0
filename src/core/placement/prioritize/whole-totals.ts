import type { Bitset } from '../../snapshot/bitset.ts';
import type { AmountRange, ScoreInput } from './prioritizer.ts';
import { EMPTY_RANGE } from './prioritizer.ts';
import type { WeightedPrioritizer } from './registry.ts';
import type { CachedScores } from './score-clusters.ts';
import { measureAmountRanges } from './score-clusters.ts';

/** What is scored. */
export interface FeasibleClusters {
  readonly feasible: Bitset;
  readonly input: Omit<ScoreInput, 'clusters'>;
  readonly kept: CachedScores;
}

/** Buffers of the size of the fleet. */
export interface TotalsScratch {
  readonly clusters: Uint32Array;
  readonly totals: Int32Array;
  readonly zeros: Int8Array;
  readonly floats: (slot: number, count: number) => Float64Array;
}

/** Clusters, ascending, and the total of each at the same position: both are scratch. */
export interface WholeTotals {
  readonly clusters: Uint32Array;
  readonly totals: Int32Array;
  /** Per prioritizer: the range of amounts that its scores depend on. */
  readonly ranges: readonly AmountRange[];
}

/** Kept scores are bytes, others lie within −100 and 100. */
const MOST_SCORE = 128;
/** Larger totals are not counted, but sorted. */
export const MAX_TOTAL = 4_096;

/**
 * The totals of a policy are whole numbers and none is larger than this, or smaller than its negative; undefined: that is not known.
 * Add-ons report any number, and say that it has expired.
 */
export function boundOfTotals(prioritizers: readonly WeightedPrioritizer[]): number | undefined {
  const isWhole = ({ prioritizer, weight }: WeightedPrioritizer): boolean =>
    prioritizer.addOn === undefined && Number.isInteger(weight);
  const bound = prioritizers.reduce((sum, { weight }) => sum + Math.abs(weight) * MOST_SCORE, 0);
  return prioritizers.every(isWhole) && bound <= MAX_TOTAL ? bound : undefined;
}

/**
 * The totals of feasible clusters under a policy with a bound. Most policies are Balance and Steady: kept scores, and one score for
 * all clusters that are decided. These are added up while the bits are read, without a column for each prioritizer, because every
 * further pass over the clusters costs as much as this one.
 *
 * Rejected: the clusters of the fleet by count, best first, from which a placement takes those that are feasible. Counts spread over a
 * hundred levels, and a placement of a few hundred clusters reads more words than it has clusters.
 */
export function wholeTotals(
  { feasible, input, kept }: FeasibleClusters,
  prioritizers: readonly WeightedPrioritizer[],
  scratch: TotalsScratch,
): WholeTotals {
  const first = prioritizers.find(({ prioritizer }) => kept.has(prioritizer.name));
  const decidedScore = prioritizers.reduce(
    (sum, { prioritizer, weight }) => sum + (prioritizer.decidedScore ?? 0) * weight,
    0,
  );
  const scores = (first && kept.get(first.prioritizer.name)) ?? scratch.zeros;
  const scored = { scores, weight: first?.weight ?? 0, decided: input.decided, decidedScore };
  const count = gather(feasible, scored, scratch);
  const clusters = scratch.clusters.subarray(0, count);
  const totals = scratch.totals.subarray(0, count);
  const ranges = measureAmountRanges(prioritizers, { ...input, clusters });
  for (let at = 0; at < prioritizers.length; at++) {
    const { prioritizer, weight } = prioritizers[at] as WeightedPrioritizer;
    if (prioritizer === first?.prioritizer || prioritizer.decidedScore !== undefined) continue;
    const column = scratch.floats(0, count);
    const keptScores = kept.get(prioritizer.name);
    if (keptScores === undefined)
      prioritizer.score({ ...input, clusters }, column, ranges[at] ?? EMPTY_RANGE);
    else for (let i = 0; i < count; i++) column[i] = keptScores[clusters[i] as number] as number;
    addWeighted(totals, column, weight);
  }
  return { clusters, totals, ranges };
}

interface Scored {
  readonly scores: Int8Array;
  readonly weight: number;
  readonly decided: Bitset;
  readonly decidedScore: number;
}

/** Reads the clusters and adds up what is known of them. */
function gather(
  feasible: Bitset,
  { scores, weight, decided, decidedScore }: Scored,
  { clusters, totals }: TotalsScratch,
): number {
  let count = 0;
  for (let word = 0; word < feasible.length; word++) {
    let bits = feasible[word] as number;
    const decidedBits = decided[word] as number;
    while (bits !== 0) {
      const lowest = bits & -bits;
      const cluster = (word << 5) + (31 - Math.clz32(lowest));
      clusters[count] = cluster;
      totals[count++] =
        (scores[cluster] as number) * weight + ((decidedBits & lowest) === 0 ? 0 : decidedScore);
      bits ^= lowest;
    }
  }
  return count;
}

function addWeighted(totals: Int32Array, scores: Float64Array, weight: number): void {
  for (let i = 0; i < totals.length; i++) {
    const score = scores[i] as number;
    // A cluster without a score keeps what it has: NaN is the only number that is not itself.
    if (score === score) totals[i] = (totals[i] as number) + score * weight;
  }
}
