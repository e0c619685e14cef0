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

/** Runs the prioritizers that read decisions, over all clusters of a fleet of `size`. */
export function keepScores(
  prioritizers: readonly WeightedPrioritizer[],
  input: Omit<ScoreInput, 'clusters'>,
  everyCluster: Uint32Array,
): KeptScores {
  const kept = new Map<string, Int8Array>();
  for (const { prioritizer } of prioritizers) {
    if (!prioritizer.readsDecisions) continue;
    const out = new Float64Array(everyCluster.length);
    prioritizer.score({ ...input, clusters: everyCluster }, out);
    kept.set(prioritizer.name, Int8Array.from(out));
  }
  return kept;
}

export function scoreClusters(
  prioritizers: readonly WeightedPrioritizer[],
  input: ScoreInput,
  kept: KeptScores,
): Scored {
  const count = input.clusters.length;
  const totals = new Float64Array(count);
  const expired: { plugin: string; objects: readonly string[] }[] = [];
  const parts = prioritizers.map(({ prioritizer, weight }): ScorePart => {
    const scores = new Float64Array(count);
    const keptScores = kept.get(prioritizer.name);
    if (keptScores !== undefined)
      for (let i = 0; i < count; i++) scores[i] = keptScores[input.clusters[i] as number] as number;
    else {
      const objects = prioritizer.score(input, scores);
      if (objects.length > 0) expired.push({ plugin: prioritizer.name, objects });
    }
    for (let i = 0; i < count; i++) {
      const score = scores[i] as number;
      // A cluster without a score keeps what it has: NaN is the only number that is not itself.
      if (score === score) totals[i] = (totals[i] as number) + score * weight;
    }
    return { name: prioritizer.name, weight, scores };
  });
  return { parts, totals, expired };
}
