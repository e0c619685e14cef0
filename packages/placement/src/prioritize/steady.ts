import { hasBit } from '../snapshot/bitset.ts';
import type { Prioritizer } from './prioritizer.ts';
import { NO_WARNINGS } from './prioritizer.ts';

/** Scores 100 for clusters that the placement already selects, and 0 for all others. */
export const steady: Prioritizer = {
  name: 'Steady',
  decidedScore: 100,
  score({ clusters, decided }, out) {
    for (let i = 0; i < clusters.length; i++) out[i] = hasBit(decided, clusters[i] as number) ? 100 : 0;
    return NO_WARNINGS;
  },
};
