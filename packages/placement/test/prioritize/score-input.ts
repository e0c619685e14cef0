import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { Prioritizer, ScoreInput } from '../../src/prioritize/prioritizer.ts';
import { EMPTY_RANGE } from '../../src/prioritize/prioritizer.ts';
import { makeBitset, putBit } from '../../src/snapshot/bitset.ts';
import type { Bitset } from '../../src/snapshot/bitset.ts';
import { NOON } from '../snapshots.ts';

/** What the prioritizer under test reads, by cluster number; the rest is empty. */
export interface ScoreSketch {
  readonly counts?: readonly number[];
  readonly most?: number;
  /** Clusters on which this placement itself is decided. */
  readonly own?: readonly number[];
  readonly decided?: readonly number[];
  readonly amounts?: readonly number[];
  readonly addOn?: readonly (AddOnPlacementScore | undefined)[];
  /** The clusters to score; default: all. */
  readonly clusters?: readonly number[];
}

function bitsOf(members: readonly number[], size: number): Bitset {
  const bits = makeBitset(size);
  for (const member of members) putBit(bits, member, true);
  return bits;
}

/** The clusters to score, and all that is known of them. */
export function makeScoreInput(sketch: ScoreSketch): ScoreInput {
  const { counts = [], most = 0, own = [], decided = [], amounts = [], addOn = [] } = sketch;
  const size = Math.max(counts.length, amounts.length, addOn.length, 1 + Math.max(-1, ...decided));
  return {
    clusters: Uint32Array.from(sketch.clusters ?? Array.from({ length: size }, (_, cluster) => cluster)),
    nameOf: (cluster) => `c${cluster}`,
    amounts: () => Float64Array.from(amounts),
    addOnScore: (cluster) => addOn[cluster],
    decided: bitsOf(decided, size),
    decisionCounts: Int32Array.from(counts),
    ownDecisions: bitsOf(own, size),
    mostDecisions: most,
    now: parseRfc3339(NOON) ?? { seconds: 0, nanos: 0 },
  };
}

/** The scores, and what is reported as expired. */
export function scoresOf(prioritizer: Prioritizer, sketch: ScoreSketch) {
  const input = makeScoreInput(sketch);
  const scores = new Float64Array(input.clusters.length);
  const expired = prioritizer.score(input, scores, prioritizer.measure?.(input) ?? EMPTY_RANGE);
  return { scores: [...scores], expired };
}
