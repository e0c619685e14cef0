import type { ResourceName } from '../snapshot/cluster-index.ts';
import type { Prioritizer } from './prioritizer.ts';
import { NO_WARNINGS } from './prioritizer.ts';

/**
 * Scores −100 for the smallest allocatable amount among the feasible clusters and 100 for the
 * largest. Clusters that do not report the amount get no score.
 */
function resourceAllocatable(name: string, resource: ResourceName): Prioritizer {
  return {
    name,
    resource,
    measure({ amounts: amountsOf, clusters }) {
      const amounts = amountsOf(resource);
      let [least, most] = [Infinity, -Infinity];
      for (let i = 0; i < clusters.length; i++) {
        const amount = amounts[clusters[i] as number] as number;
        if (amount < least) least = amount;
        if (amount > most) most = amount;
      }
      return { least, most };
    },
    score({ amounts: amountsOf, clusters }, out, { least, most }) {
      const amounts = amountsOf(resource);
      const span = most - least;
      for (let i = 0; i < clusters.length; i++) {
        const amount = amounts[clusters[i] as number] as number;
        if (Number.isNaN(amount)) out[i] = Number.NaN;
        else out[i] = span === 0 ? 100 : Math.trunc(((amount - least) / span - 0.5) * 200);
      }
      return NO_WARNINGS;
    },
  };
}

export const resourceAllocatableCpu = resourceAllocatable('ResourceAllocatableCPU', 'cpu');
export const resourceAllocatableMemory = resourceAllocatable('ResourceAllocatableMemory', 'memory');
