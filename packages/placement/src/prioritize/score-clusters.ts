import { bitsToArray } from '../snapshot/bitset.ts';
import type { DecisionCountScores } from './decision-count-scores.ts';
import { type AmountRange, EMPTY_RANGE, type ScoreInput } from './prioritizer.ts';
import type { WeightedPrioritizer } from './registry.ts';

/**
 * The scores of one prioritizer for the clusters of a ScoreInput; NaN for a cluster without a
 * score.
 */
export interface PrioritizerScores {
  readonly name: string;
  readonly weight: number;
  readonly scores: Float64Array;
}

/**
 * Scores that depend on the decisions of other placements, for every cluster, by prioritizer name.
 */
export type CachedScores = ReadonlyMap<string, Int8Array>;

export interface ScoredClusters {
  readonly parts: readonly PrioritizerScores[];
  /** Σ score × weight */
  readonly totals: Float64Array;
  /** For each prioritizer, the range of amounts that its scores depend on. */
  readonly ranges: readonly AmountRange[];
  readonly expired: readonly { readonly plugin: string; readonly objects: readonly string[] }[];
}

export interface ScoreOptions {
  /** Returns a column for scores: a new array or a reused buffer. Default: new arrays. */
  readonly floats?: (slot: number, count: number) => Float64Array;
  /**
   * The ranges of the prioritizers over all scored clusters. Default: over the clusters of the
   * input.
   */
  readonly ranges?: readonly AmountRange[];
}

const freshFloats: NonNullable<ScoreOptions['floats']> = (_slot, count) => new Float64Array(count);

export interface CacheOptions {
  /** Scores that are no longer needed. They may be overwritten. */
  readonly old?: CachedScores | undefined;
  /**
   * The shared scores of the clusters that the placement does not select. Undefined if the counts
   * do not include all decisions.
   */
  readonly base?: DecisionCountScores | undefined;
}

/**
 * Runs the prioritizers that read decisions of other placements, over all clusters of the fleet.
 */
export function cacheScores(
  prioritizers: readonly WeightedPrioritizer[],
  input: ScoreInput,
  { old, base }: CacheOptions = {},
): CachedScores {
  const { clusters, decisionCounts, ownDecisions, mostDecisions } = input;
  const kept = new Map<string, Int8Array>();
  for (const { prioritizer } of prioritizers) {
    const { countScore } = prioritizer;
    if (countScore === undefined) continue;
    const before = old?.get(prioritizer.name);
    const scores = before?.length === clusters.length ? before : new Int8Array(clusters.length);
    if (base === undefined) prioritizer.score(input, scores, EMPTY_RANGE);
    else {
      scores.set(base.of(countScore, decisionCounts, mostDecisions));
      for (const own of bitsToArray(ownDecisions))
        scores[own] = countScore((decisionCounts[own] as number) - 1, mostDecisions);
    }
    kept.set(prioritizer.name, scores);
  }
  return kept;
}

/**
 * Updates the scores of `cacheScores` for the clusters of the input.
 * @returns the clusters whose score changed
 */
export function updateCachedScores(
  prioritizers: readonly WeightedPrioritizer[],
  input: ScoreInput,
  kept: CachedScores,
): ReadonlySet<number> {
  const { clusters } = input;
  const moved = new Set<number>();
  for (const { prioritizer } of prioritizers) {
    const scores = kept.get(prioritizer.name);
    if (scores === undefined) continue;
    const fresh = new Int8Array(clusters.length);
    prioritizer.score(input, fresh, EMPTY_RANGE);
    for (let at = 0; at < clusters.length; at++) {
      const cluster = clusters[at] as number;
      if (scores[cluster] === fresh[at]) continue;
      scores[cluster] = fresh[at] as number;
      moved.add(cluster);
    }
  }
  return moved;
}

/** How much the total of a cluster has grown since its scores were cached. */
export function scoreGainSinceCached(
  prioritizers: readonly WeightedPrioritizer[],
  kept: CachedScores,
  { cluster, count, most }: { readonly cluster: number; readonly count: number; readonly most: number },
): number {
  let gain = 0;
  for (const { prioritizer, weight } of prioritizers) {
    const before = prioritizer.countScore && kept.get(prioritizer.name);
    if (before === undefined) continue;
    gain += ((prioritizer.countScore?.(count, most) as number) - (before[cluster] as number)) * weight;
  }
  return gain;
}

/** The range of amounts of each prioritizer over the clusters of the input. */
export function measureAmountRanges(
  prioritizers: readonly WeightedPrioritizer[],
  input: ScoreInput,
): readonly AmountRange[] {
  return prioritizers.map(({ prioritizer }) => prioritizer.measure?.(input) ?? EMPTY_RANGE);
}

export function scoreClusters(
  prioritizers: readonly WeightedPrioritizer[],
  input: ScoreInput,
  kept: CachedScores,
  { floats = freshFloats, ranges = measureAmountRanges(prioritizers, input) }: ScoreOptions = {},
): ScoredClusters {
  const { clusters } = input;
  const totals = floats(0, clusters.length).fill(0);
  const parts: PrioritizerScores[] = [];
  const expired: { plugin: string; objects: readonly string[] }[] = [];
  for (const { prioritizer, weight } of prioritizers) {
    const scores = floats(parts.length + 1, clusters.length);
    const keptScores = kept.get(prioritizer.name);
    if (keptScores !== undefined) readKept(keptScores, clusters, scores);
    else {
      const objects = prioritizer.score(input, scores, ranges[parts.length] ?? EMPTY_RANGE);
      if (objects.length > 0) expired.push({ plugin: prioritizer.name, objects });
    }
    addWeighted(totals, scores, weight);
    parts.push({ name: prioritizer.name, weight, scores });
  }
  return { parts, totals, ranges, expired };
}

function readKept(kept: Int8Array, clusters: Uint32Array, out: Float64Array): void {
  for (let i = 0; i < clusters.length; i++) out[i] = kept[clusters[i] as number] as number;
}

function addWeighted(totals: Float64Array, scores: Float64Array, weight: number): void {
  for (let i = 0; i < totals.length; i++) {
    const score = scores[i] as number;
    // NaN is not equal to itself. A cluster without a score keeps its total.
    if (score === score) totals[i] = (totals[i] as number) + score * weight;
  }
}
