import type { Bitset } from '../snapshot/bitset.ts';

/**
 * The clusters of the fleet that pass one filter. Placements with the same request to a filter
 * share one class. To add a filter, add a class like the others in this folder and a line in the
 * registry.
 */
export interface FilterClass {
  /** Clusters that pass if the placement has not selected them before. */
  readonly passNew: Bitset;
  /**
   * Clusters that pass if the placement has selected them before. The same object as `passNew` if
   * this makes no difference.
   */
  readonly passDecided: Bitset;
}
