import type { Bitset } from '../snapshot/bitset.ts';
import { type AmountRange, EMPTY_RANGE, type ScoreInput } from './prioritizer.ts';
import type { WeightedPrioritizer } from './registry.ts';
import { type CachedScores, measureAmountRanges } from './score-clusters.ts';

/** The clusters to score, and the inputs of their scores. */
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

/** Clusters, ascending, and their totals at the same positions. Both are scratch buffers. */
export interface IntegerTotals {
  readonly clusters: Uint32Array;
  readonly totals: Int32Array;
  /** For each prioritizer, the range of amounts that its scores depend on. */
  readonly ranges: readonly AmountRange[];
}

/**
 * The largest absolute value of a score. Cached scores are bytes; other scores are in −100..100.
 */
const MAX_SCORE = 128;
/** Larger totals are sorted by comparing, not by counting. */
export const MAX_TOTAL = 4_096;

/**
 * A number such that all totals of a policy are integers between its negative and itself. Undefined if
 * there is none up to `MAX_TOTAL`, or if the policy reads scores of add-ons. Add-ons may report any
 * number, and their scores may expire.
 */
export function totalsBound(prioritizers: readonly WeightedPrioritizer[]): number | undefined {
  const isInteger = ({ prioritizer, weight }: WeightedPrioritizer): boolean =>
    prioritizer.addOn === undefined && Number.isInteger(weight);
  const bound = prioritizers.reduce((sum, { weight }) => sum + Math.abs(weight) * MAX_SCORE, 0);
  return prioritizers.every(isInteger) && bound <= MAX_TOTAL ? bound : undefined;
}

/**
 * The totals of feasible clusters under a policy with a bound. Most policies use Balance (cached
 * scores) and Steady (one score for all clusters that are already selected). Their scores are added
 * while the bits are read, without a column for each prioritizer. Each further loop over the
 * clusters would cost as much as this one.
 *
 * Rejected: sorting the clusters of the fleet by count once, and taking the feasible ones for each
 * placement. Counts spread over a hundred levels, so a placement of a few hundred clusters would
 * read more words than it has clusters.
 */
export function integerTotals(
  { feasible, input, kept }: FeasibleClusters,
  prioritizers: readonly WeightedPrioritizer[],
  scratch: TotalsScratch,
): IntegerTotals {
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

/** Reads the feasible clusters and adds the first cached score and the score of Steady. */
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
    // NaN is not equal to itself. A cluster without a score keeps its total.
    if (score === score) totals[i] = (totals[i] as number) + score * weight;
  }
}
