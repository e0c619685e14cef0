import type { Prioritizer } from './prioritizer.ts';
import { NO_WARNINGS } from './prioritizer.ts';

/** Clusters with fewer decisions of other placements score higher: 100 for none, −100 for the most. */
export const balance: Prioritizer = {
  name: 'Balance',
  readsDecisions: true,
  score({ clusters, decisionCounts, mostDecisions }, out) {
    const scoreOf = new Float64Array(mostDecisions + 1).fill(100);
    for (let count = 1; count <= mostDecisions; count++)
      scoreOf[count] = 2 * Math.trunc(100 * (0.5 - count / mostDecisions));
    for (let i = 0; i < clusters.length; i++)
      out[i] = scoreOf[decisionCounts[clusters[i] as number] as number] as number;
    return NO_WARNINGS;
  },
};
