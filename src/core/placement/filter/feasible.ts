import type { Bitset } from '../../snapshot/bitset.ts';
import { hasBit, intersectWith } from '../../snapshot/bitset.ts';
import type { FilterClass } from './filter-class.ts';
import type { FilterClasses, Filters } from './registry.ts';

/** What a placement asks of all filters. */
interface Filtered {
  readonly filters: Filters;
}

/** Clusters that are available and pass the predicates; a fresh set. */
export function matchingClusters({ eligibility, predicate }: Omit<FilterClasses, 'tolerations'>): Bitset {
  const bits = eligibility.passNew.slice();
  intersectWith(bits, predicate.passNew);
  return bits;
}

/**
 * Clusters that pass all filters.
 * @param prior this placement's previous decisions, which NoSelectIfNew taints do not affect
 * @param into a set that is no longer needed; default: a fresh one
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

/** bits = those of them that pass */
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
