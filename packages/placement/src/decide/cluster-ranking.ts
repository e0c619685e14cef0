import { lowerBound } from '@berth/runtime/lists/lower-bound';
import type { AmountRange } from '../prioritize/prioritizer.ts';
import type { RankedClusters } from '../select/rank.ts';
import type { ScratchBuffers } from '../index/scheduling-index.ts';

/** What the scores of a ranking depend on, apart from each single cluster. */
export interface RankingBasis {
  /** The range of amounts of each prioritizer. */
  readonly ranges: readonly AmountRange[];
  /** The largest number of decisions of other placements for one cluster. */
  readonly most: number;
  /** The length of the log of decision counts when the ranking was made. */
  readonly countLogLength: number;
}

/** Flagged clusters that leave the ranking, enter it or move within it. */
export interface RankingChange {
  /** How many flagged clusters are in the ranking now. */
  readonly leaving: number;
  /** The flagged clusters that belong in the ranking from now on, best first, with their totals. */
  readonly joining: readonly RankedCluster[];
}

export interface RankedCluster {
  readonly cluster: number;
  readonly total: number;
}

/**
 * A replacement in the ranking: from place `first` on, `length` new entries replace `replaced` old
 * ones. The new entries start at `offset` of the scratch buffers.
 */
export interface RankingSplice {
  readonly first: number;
  readonly replaced: number;
  readonly offset: number;
  readonly length: number;
}

const UNRANKED: RankingBasis = { ranges: [], most: 0, countLogLength: 0 };

/**
 * The feasible clusters of a decided placement, best first, with their totals. It is kept so that a
 * change of a few clusters moves only these. Equal totals are ordered by name. It changes in place.
 */
export class ClusterRanking {
  basis: RankingBasis = UNRANKED;
  #order = new Uint32Array(0);
  #totals = new Float64Array(0);
  #count = 0;

  /** Replaces the content of the ranking. */
  rank({ order, totals }: RankedClusters, basis: RankingBasis): void {
    this.basis = basis;
    this.#count = order.length;
    if (this.#count > this.#order.length) {
      this.#order = new Uint32Array(this.#count);
      this.#totals = new Float64Array(this.#count);
    }
    this.#order.set(order);
    this.#totals.set(totals);
  }

  get count(): number {
    return this.#count;
  }

  /** Cluster numbers, best first. This array and `totals` are valid until the next change. */
  get order(): Uint32Array {
    return this.#order.subarray(0, this.#count);
  }

  get totals(): Float64Array {
    return this.#totals.subarray(0, this.#count);
  }

  /** Replaces the cluster numbers. The order stays the same. */
  renumber(toNew: Uint32Array): void {
    const { order } = this;
    for (let at = 0; at < order.length; at++) order[at] = toNew[order[at] as number] as number;
  }

  /**
   * Plans a change. The changed clusters have a flag in the scratch buffers. The new entries are
   * left in the scratch buffers for `apply`.
   */
  plan({ leaving, joining }: RankingChange, { flags, ranked, rankedTotals }: ScratchBuffers): RankingSplice {
    const { order, totals } = this;
    const leaves: number[] = [];
    for (let at = 0; leaves.length < leaving; at++) if (flags[order[at] as number] === 1) leaves.push(at);
    const joins = joining.map((entry) => this.#placeOf(entry));
    const first = Math.min(leaves[0] ?? order.length, joins[0] ?? order.length);
    const end = Math.max(first, (leaves.at(-1) ?? -1) + 1, joins.at(-1) ?? 0);
    let [read, length, left, joined] = [first, 0, 0, 0];
    while (read < end || joined < joins.length) {
      const stop = Math.min(leaves[left] ?? end, joins[joined] ?? end);
      // Usually these are a few entries, for which copying is cheaper than creating views.
      for (; read < stop; read++, length++) {
        ranked[length] = order[read] as number;
        rankedTotals[length] = totals[read] as number;
      }
      if (stop === joins[joined]) {
        const { cluster, total } = joining[joined++] as RankedCluster;
        ranked[length] = cluster;
        rankedTotals[length++] = total;
      } else if (stop === leaves[left]) {
        left++;
        read++;
      }
    }
    return this.#trim({ first, replaced: read - first, offset: 0, length }, { ranked, rankedTotals });
  }

  apply({ first, replaced, offset, length }: RankingSplice, { ranked, rankedTotals }: ScratchBuffers): void {
    const count = this.#count;
    if (length + replaced === 0) return;
    this.#count = count + length - replaced;
    if (this.#count > this.#order.length) this.#grow();
    // If the length stays the same, the rest need not move.
    if (length !== replaced) {
      this.#order.copyWithin(first + length, first + replaced, count);
      this.#totals.copyWithin(first + length, first + replaced, count);
    }
    this.#order.set(ranked.subarray(offset, offset + length), first);
    this.#totals.set(rankedTotals.subarray(offset, offset + length), first);
  }

  /**
   * Removes entries at both ends that do not change. A cluster that was checked again often keeps
   * its place.
   */
  #trim(
    splice: RankingSplice,
    { ranked, rankedTotals }: Pick<ScratchBuffers, 'ranked' | 'rankedTotals'>,
  ): RankingSplice {
    let { first, replaced, offset, length } = splice;
    const same = (at: number, place: number): boolean =>
      ranked[at] === this.#order[place] && rankedTotals[at] === this.#totals[place];
    while (length > 0 && replaced > 0 && same(offset, first)) {
      first++;
      offset++;
      length--;
      replaced--;
    }
    while (length > 0 && replaced > 0 && same(offset + length - 1, first + replaced - 1)) {
      length--;
      replaced--;
    }
    return { first, replaced, offset, length };
  }

  /** The first place whose entry comes after this one. */
  #placeOf({ cluster, total }: RankedCluster): number {
    return lowerBound(this.#count, (at) => {
      const other = this.#totals[at] as number;
      return other > total || (other === total && (this.#order[at] as number) <= cluster);
    });
  }

  #grow(): void {
    const [order, totals] = [this.#order, this.#totals];
    const room = Math.ceil(this.#count * 1.1) + 8;
    this.#order = new Uint32Array(room);
    this.#order.set(order);
    this.#totals = new Float64Array(room);
    this.#totals.set(totals);
  }
}
