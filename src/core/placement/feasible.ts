import type { Bitset } from '../snapshot/bitset.ts';
import { hasBit, intersectWith, putBit } from '../snapshot/bitset.ts';
import type { CompiledPlacement } from './scheduling-index.ts';

/** Clusters that are available and pass the predicates; a fresh set. */
export function matchingClusters({ eligibility, predicate }: CompiledPlacement): Bitset {
  const bits = eligibility.bits.slice();
  intersectWith(bits, predicate.bits);
  return bits;
}

/**
 * Clusters that pass all filters; a fresh set. `prior`: this placement's decisions of before, which NoSelectIfNew
 * taints spare; numbers beyond the fleet are clusters that are gone.
 */
export function feasibleClusters(
  matching: Bitset,
  { tolerations }: CompiledPlacement,
  prior: Uint32Array,
): Bitset {
  const bits = matching.slice();
  intersectWith(bits, tolerations.passNew);
  const size = tolerations.passNew.length * 32;
  for (const cluster of prior)
    if (cluster < size && hasBit(matching, cluster) && hasBit(tolerations.passDecided, cluster))
      putBit(bits, cluster, true);
  return bits;
}

/** Whether one cluster passes all filters. */
export function isFeasible(compiled: CompiledPlacement, cluster: number, decided: boolean): boolean {
  const { eligibility, predicate, tolerations } = compiled;
  if (!hasBit(eligibility.bits, cluster) || !hasBit(predicate.bits, cluster)) return false;
  return hasBit(decided ? tolerations.passDecided : tolerations.passNew, cluster);
}

export function isEmpty(bits: Bitset): boolean {
  return bits.every((word) => word === 0);
}
