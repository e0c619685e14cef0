import { hasBit } from '../snapshot/bitset.ts';
import type { Prioritizer } from './prioritizer.ts';
import { NO_WARNINGS } from './prioritizer.ts';

/**
 * Scores clusters with fewer decisions of other placements higher: 100 for none, −100 for the most.
 */
export const balance: Prioritizer = {
  name: 'Balance',
  countScore: scoreOf,
  score({ clusters, decisionCounts, ownDecisions, mostDecisions }, out) {
    // For a few clusters, scoring each one is faster than making a table.
    const table = clusters.length < mostDecisions ? undefined : scoresUpTo(mostDecisions);
    for (let i = 0; i < clusters.length; i++) {
      const cluster = clusters[i] as number;
      const count = (decisionCounts[cluster] as number) - (hasBit(ownDecisions, cluster) ? 1 : 0);
      out[i] = table === undefined ? scoreOf(count, mostDecisions) : (table[count] as number);
    }
    return NO_WARNINGS;
  },
};

function scoreOf(count: number, most: number): number {
  return count === 0 ? 100 : 2 * Math.trunc(100 * (0.5 - count / most));
}

function scoresUpTo(most: number): Float64Array {
  return Float64Array.from({ length: most + 1 }, (_, count) => scoreOf(count, most));
}
