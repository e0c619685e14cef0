import { bitsToArray } from '../snapshot/bitset.ts';
import { findSorted } from '@berth/runtime/lists/lower-bound';
import type { DecisionContext } from './score-decided-clusters.ts';
import { scoreDecidedClusters } from './score-decided-clusters.ts';
import type { ScoredClusters } from '../prioritize/score-clusters.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';
import { rankClusters } from '../decide/select-ranked-clusters.ts';

/** The feasible clusters of a decided placement, scored and ranked. */
export interface TraceRanking {
  /** Cluster numbers, ascending. */
  readonly clusters: Uint32Array;
  readonly scored: ScoredClusters;
  /** Positions in `clusters`, best first. */
  readonly order: Uint32Array;
  /** Undefined for a cluster that is not feasible. */
  readonly positionOf: (number: number | undefined) => number | undefined;
  /** The rank of a position, from 1 for the best. */
  readonly rankOf: (position: number) => number;
}

export function rankDecidedClusters(index: SchedulingIndex, decided: DecisionContext): TraceRanking {
  const { compiled, feasible, stage } = decided.state;
  const clusters = feasible === undefined || stage !== 'done' ? new Uint32Array(0) : bitsToArray(feasible);
  const scored = scoreDecidedClusters(index, decided, clusters);
  const order = rankClusters({ compiled, clusters, totals: scored.totals }, clusters.length);
  const ranks = new Uint32Array(order.length);
  order.forEach((position, at) => (ranks[position] = at + 1));
  return {
    clusters,
    scored,
    order,
    positionOf: (number) => (number === undefined ? undefined : findSorted(clusters, number)),
    rankOf: (position) => ranks[position] as number,
  };
}
