import { type Bitset, hasBit, intersectWith } from '../snapshot/bitset.ts';
import type { EligibilityClass, FilterClass } from './eligibility.ts';
import type { PredicateClass } from './predicate-class.ts';
import type { TolerationClass } from './toleration-class.ts';

/** The class of a placement in each filter. */
export interface FilterClasses {
  readonly eligibility: EligibilityClass;
  readonly predicate: PredicateClass;
  readonly tolerations: TolerationClass;
}

/** The filters in the order in which refusals are explained. There is at least one. */
export type Filters = readonly [FilterClass, ...FilterClass[]];

/** All filters. Add a new one here. */
export function filtersOf({ eligibility, predicate, tolerations }: FilterClasses): Filters {
  return [eligibility, predicate, tolerations];
}

/** The filter classes of a placement. */
interface Filtered {
  readonly filters: Filters;
}

/** The clusters that are available and pass the predicates, as a new set. */
export function matchingClusters({ eligibility, predicate }: Omit<FilterClasses, 'tolerations'>): Bitset {
  const bits = eligibility.passNew.slice();
  intersectWith(bits, predicate.passNew);
  return bits;
}

/**
 * The clusters that pass all filters.
 * @param prior the previous decisions of this placement; NoSelectIfNew taints do not affect them
 * @param into a set that is no longer needed and may be overwritten; default: a new set
 */
export function feasibleClusters(
  { filters }: Filtered,
  prior: Bitset,
  into: Bitset = new Uint32Array(prior.length),
): Bitset {
  const bits = passing(filters[0], prior, into);
  for (let i = 1; i < filters.length; i++) keepPassing(bits, filters[i] as FilterClass, prior);
  return bits;
}

function passing({ passNew, passDecided }: FilterClass, prior: Bitset, bits: Bitset): Bitset {
  bits.set(passNew);
  if (passNew === passDecided) return bits;
  for (let i = 0; i < bits.length; i++)
    bits[i] = (bits[i] as number) | ((passDecided[i] as number) & (prior[i] as number));
  return bits;
}

/** Removes the clusters that do not pass from `bits`. */
function keepPassing(bits: Bitset, { passNew, passDecided }: FilterClass, prior: Bitset): void {
  if (passNew === passDecided) return intersectWith(bits, passNew);
  for (let i = 0; i < bits.length; i++) {
    const passing = (passNew[i] as number) | ((passDecided[i] as number) & (prior[i] as number));
    bits[i] = (bits[i] as number) & passing;
  }
}

/** Whether one cluster passes all filters. */
export function isFeasible({ filters }: Filtered, cluster: number, decided: boolean): boolean {
  for (let i = 0; i < filters.length; i++) {
    const { passNew, passDecided } = filters[i] as FilterClass;
    if (!hasBit(decided ? passDecided : passNew, cluster)) return false;
  }
  return true;
}

export function isEmpty(bits: Bitset): boolean {
  return bits.every((word) => word === 0);
}
