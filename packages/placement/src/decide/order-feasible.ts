import type { Bitset } from '../snapshot/bitset.ts';
import { readBits } from '../snapshot/bitset.ts';
import type { CompiledPlacement, SchedulingIndex } from '../index/scheduling-index.ts';
import type { AmountRange, ScoreInput } from '../prioritize/prioritizer.ts';
import type { WeightedPrioritizer } from '../prioritize/registry.ts';
import type { CachedScores, ScoredClusters } from '../prioritize/score-clusters.ts';
import { scoreClusters } from '../prioritize/score-clusters.ts';
import { integerTotals } from '../prioritize/integer-totals.ts';
import type { ScheduleResult } from '../result/schedule-result.ts';
import { type RankedClusters, rankByCounting } from '../select/rank-by-counting.ts';
import { selectRankedClusters } from './select-ranked-clusters.ts';

export interface OrderedClusters extends RankedClusters {
  readonly spread: ScheduleResult['spread'];
  readonly ranges: readonly AmountRange[];
  readonly expired: ScoredClusters['expired'];
}

interface Candidates {
  readonly compiled: CompiledPlacement;
  readonly prioritizers: readonly WeightedPrioritizer[];
  readonly feasible: Bitset;
  readonly input: Omit<ScoreInput, 'clusters'>;
  readonly kept: CachedScores;
}

/** At most `limit` feasible clusters, best first, in scratch buffers. */
export function orderFeasible(
  index: SchedulingIndex,
  candidates: Candidates,
  limit: number,
): OrderedClusters {
  const { scratch } = index;
  const { compiled, prioritizers } = candidates;
  const into = { order: scratch.ranked, totals: scratch.rankedTotals };
  const { bound } = compiled;
  if (bound === undefined) return orderByComparing(index, candidates, { limit, into });
  const scored = integerTotals(candidates, prioritizers, scratch);
  const { order, totals } = rankByCounting(scored, { bound, limit }, { ...into, levels: scratch.levels });
  return { order, totals, spread: undefined, ranges: scored.ranges, expired: NO_SCORES };
}

const NO_SCORES: ScoredClusters['expired'] = [];

/**
 * Orders by comparing: for totals that are not small integers, for spread constraints, and for the
 * opt-in tie-break.
 */
function orderByComparing(
  { clusterIndex, scratch }: SchedulingIndex,
  { compiled, prioritizers, feasible, input, kept }: Candidates,
  { limit, into }: { readonly limit: number; readonly into: RankedClusters },
): OrderedClusters {
  const clusters = scratch.clusters.subarray(0, readBits(feasible, scratch.clusters));
  const floats = scratch.floats.bind(scratch);
  const { totals, ranges, expired } = scoreClusters(prioritizers, { ...input, clusters }, kept, { floats });
  const { positions, spread } = selectRankedClusters({ compiled, clusterIndex, clusters, totals, limit });
  for (let at = 0; at < positions.length; at++) {
    const position = positions[at] as number;
    into.order[at] = clusters[position] as number;
    into.totals[at] = totals[position] as number;
  }
  return {
    order: into.order.subarray(0, positions.length),
    totals: into.totals.subarray(0, positions.length),
    ...{ spread, ranges, expired },
  };
}
