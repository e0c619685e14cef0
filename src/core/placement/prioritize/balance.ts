import { hasBit } from '../../snapshot/bitset.ts';
import type { Prioritizer } from './prioritizer.ts';
import { NO_WARNINGS } from './prioritizer.ts';

/** Clusters with fewer decisions of other placements score higher: 100 for none, −100 for the most. */
export const balance: Prioritizer = {
  name: 'Balance',
  readsDecisions: true,
  score({ clusters, decisionCounts, ownDecisions, mostDecisions }, out) {
    const scoreOf = new Float64Array(mostDecisions + 1).fill(100);
    for (let count = 1; count <= mostDecisions; count++)
      scoreOf[count] = 2 * Math.trunc(100 * (0.5 - count / mostDecisions));
    for (let i = 0; i < clusters.length; i++) {
      const cluster = clusters[i] as number;
      const count = (decisionCounts[cluster] as number) - (hasBit(ownDecisions, cluster) ? 1 : 0);
      out[i] = scoreOf[count] as number;
    }
    return NO_WARNINGS;
  },
};
