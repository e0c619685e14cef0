import type { Bitset } from '../snapshot/bitset.ts';
import { hasBit, makeBitset, putBit } from '../snapshot/bitset.ts';
import { feasibleClusters, isFeasible } from '../filter/feasible.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';

/**
 * A group with more clusters than this is checked 32 clusters at a time. One at a time, 1,000
 * placements that noticed 1,000 tainted clusters took 1.5 s of processor time.
 */
const FEW = 32;

/** The state of a placement when it was decided. */
interface Before {
  readonly feasible: Bitset;
  /** The decisions of the placement before that. */
  readonly prior: Bitset;
}

/** Clusters that changed. One placement after the other asks which of them concern it. */
export class ClusterGroup {
  /** The cluster numbers. A number may occur several times. */
  readonly clusters: readonly number[];
  /** The same clusters as a bitset; undefined if the group is small. */
  readonly #bits: Bitset | undefined;

  constructor(clusters: readonly number[], fleetSize: number) {
    this.clusters = clusters;
    if (clusters.length <= FEW) return;
    this.#bits = makeBitset(fleetSize);
    for (const cluster of clusters) putBit(this.#bits, cluster, true);
  }

  /** The clusters of the group that are in a set. */
  within(bits: Bitset): readonly number[] {
    const group = this.#bits;
    if (group === undefined) return this.clusters.filter((cluster) => hasBit(bits, cluster));
    return membersOf(group, (word) => bits[word] as number);
  }

  /**
   * The clusters of the group that started or stopped passing the filters of a placement. With the
   * opt-in tie-break, also all that pass now.
   */
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

/** The members, ascending, that are in both sets. `other` returns a word of the other set. */
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
