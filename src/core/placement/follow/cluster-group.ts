import type { Bitset } from '../../snapshot/bitset.ts';
import { hasBit, makeBitset, putBit } from '../../snapshot/bitset.ts';
import { feasibleClusters, isFeasible } from '../filter/feasible.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';

/**
 * More clusters than these are looked at 32 at a time. One at a time, the 1,000 placements that notice 1,000 tainted
 * clusters took 1.5 s of processor time.
 */
const FEW = 32;

/** What a placement knew of the clusters when it was decided. */
interface Before {
  readonly feasible: Bitset;
  /** Its decisions before that. */
  readonly prior: Bitset;
}

/** Clusters to which something happened, asked for by one placement after the other. */
export class ClusterGroup {
  /** Their numbers; one may be listed several times. */
  readonly clusters: readonly number[];
  /** The same; undefined: they are few. */
  readonly #bits: Bitset | undefined;

  constructor(clusters: readonly number[], fleetSize: number) {
    this.clusters = clusters;
    if (clusters.length <= FEW) return;
    this.#bits = makeBitset(fleetSize);
    for (const cluster of clusters) putBit(this.#bits, cluster, true);
  }

  /** Those of them in a set. */
  within(bits: Bitset): readonly number[] {
    const group = this.#bits;
    if (group === undefined) return this.clusters.filter((cluster) => hasBit(bits, cluster));
    return membersOf(group, (word) => bits[word] as number);
  }

  /** Those that pass the filters of a placement now and did not before, or the other way; under the opt-in tie-break all that pass. */
  noticedBy(compiled: CompiledPlacement, { feasible, prior }: Before): readonly number[] {
    const { avoidPreferNoSelect } = compiled;
    const group = this.#bits;
    if (group === undefined)
      return this.clusters.filter((cluster) => {
        const after = isFeasible(compiled, cluster, hasBit(prior, cluster));
        return hasBit(feasible, cluster) !== after || (after && avoidPreferNoSelect);
      });
    const now = feasibleClusters(compiled, prior);
    return membersOf(group, (word) => {
      const after = now[word] as number;
      return ((feasible[word] as number) ^ after) | (avoidPreferNoSelect ? after : 0);
    });
  }
}

/** The members of a set, ascending, of which the other set has a bit as well. */
function membersOf(bits: Bitset, other: (word: number) => number): number[] {
  const members: number[] = [];
  for (let word = 0; word < bits.length; word++) {
    let both = (bits[word] as number) & other(word);
    while (both !== 0) {
      const lowest = both & -both;
      members.push((word << 5) + (31 - Math.clz32(lowest)));
      both ^= lowest;
    }
  }
  return members;
}
