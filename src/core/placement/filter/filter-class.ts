import type { Bitset } from '../../snapshot/bitset.ts';

/**
 * What one filter answers to all placements that ask it the same: which clusters of the fleet pass. To add a filter:
 * a class like its neighbours, and a line in the registry.
 */
export interface FilterClass {
  /** Clusters that pass when the placement has not selected them. */
  readonly passNew: Bitset;
  /** Clusters that pass when it has. The same set where that makes no difference. */
  readonly passDecided: Bitset;
}
