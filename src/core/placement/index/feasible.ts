import type { Bitset } from '../../snapshot/bitset.ts';
import { hasBit, intersectWith } from '../../snapshot/bitset.ts';
import type { CompiledPlacement } from './scheduling-index.ts';

/** Clusters that are available and pass the predicates; a fresh set. */
export function matchingClusters({ eligibility, predicate }: CompiledPlacement): Bitset {
  const bits = eligibility.bits.slice();
  intersectWith(bits, predicate.bits);
  return bits;
}

/**
 * Clusters that pass all filters; a fresh set.
 * @param prior this placement's decisions of before, which NoSelectIfNew taints spare
 */
export function feasibleClusters(compiled: CompiledPlacement, prior: Bitset): Bitset {
  const available = compiled.eligibility.bits;
  const matching = compiled.predicate.bits;
  const { passNew, passDecided } = compiled.tolerations;
  const bits = new Uint32Array(available.length);
  for (let i = 0; i < bits.length; i++) {
    const passing = (passNew[i] as number) | ((passDecided[i] as number) & (prior[i] as number));
    bits[i] = (available[i] as number) & (matching[i] as number) & passing;
  }
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
