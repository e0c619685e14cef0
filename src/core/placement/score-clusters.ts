import type { ScoreInput } from './prioritize/prioritizer.ts';
import type { WeightedPrioritizer } from './prioritize/registry.ts';

/** Scores by prioritizer for the clusters of one ScoreInput; NaN where a prioritizer gives none. */
export interface ScorePart {
  readonly name: string;
  readonly weight: number;
  readonly scores: Float64Array;
}

/** Scores that depended on other placements' decisions, for every cluster, as they were: by prioritizer name. */
export type KeptScores = ReadonlyMap<string, Int8Array>;

export interface Scored {
  readonly parts: readonly ScorePart[];
  /** Σ score × weight */
  readonly totals: Float64Array;
  readonly expired: readonly { readonly plugin: string; readonly objects: readonly string[] }[];
}

/** Where score columns come from: fresh ones, or buffers used again. */
export type FloatSource = (slot: number, count: number) => Float64Array;

const freshFloats: FloatSource = (_slot, count) => new Float64Array(count);

/** Runs the prioritizers that read decisions, over all clusters of the fleet. */
export function keepScores(prioritizers: readonly WeightedPrioritizer[], input: ScoreInput): KeptScores {
  const kept = new Map<string, Int8Array>();
  for (const { prioritizer } of prioritizers) {
    if (!prioritizer.readsDecisions) continue;
    const scores = new Int8Array(input.clusters.length);
    prioritizer.score(input, scores);
    kept.set(prioritizer.name, scores);
  }
  return kept;
}

export function scoreClusters(
  prioritizers: readonly WeightedPrioritizer[],
  input: ScoreInput,
  kept: KeptScores,
  floats: FloatSource = freshFloats,
): Scored {
  const { clusters } = input;
  const totals = floats(0, clusters.length).fill(0);
  const parts: ScorePart[] = [];
  const expired: { plugin: string; objects: readonly string[] }[] = [];
  for (const { prioritizer, weight } of prioritizers) {
    const scores = floats(parts.length + 1, clusters.length);
    const keptScores = kept.get(prioritizer.name);
    if (keptScores !== undefined) readKept(keptScores, clusters, scores);
    else {
      const objects = prioritizer.score(input, scores);
      if (objects.length > 0) expired.push({ plugin: prioritizer.name, objects });
    }
    addWeighted(totals, scores, weight);
    parts.push({ name: prioritizer.name, weight, scores });
  }
  return { parts, totals, expired };
}

function readKept(kept: Int8Array, clusters: Uint32Array, out: Float64Array): void {
  for (let i = 0; i < clusters.length; i++) out[i] = kept[clusters[i] as number] as number;
}

function addWeighted(totals: Float64Array, scores: Float64Array, weight: number): void {
  for (let i = 0; i < totals.length; i++) {
    const score = scores[i] as number;
    // A cluster without a score keeps what it has: NaN is the only number that is not itself.
    if (score === score) totals[i] = (totals[i] as number) + score * weight;
  }
}
