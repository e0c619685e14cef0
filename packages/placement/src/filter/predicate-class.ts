import type { ClusterPredicate } from '@berth/ocm/kind/placement';
import { type Bitset, hasBit, makeBitset, makeFullBitset, putBit, uniteWith } from '../snapshot/bitset.ts';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
import type { CompileCel } from './cel-hook.ts';
import type { CompiledClusterSelector } from './cluster-selector.ts';
import {
  compileClusterSelector,
  scoreFinderFor,
  matchesCluster,
  selectClusters,
} from './cluster-selector.ts';
import type { FilterClass } from './eligibility.ts';

/**
 * The clusters that at least one predicate selects. All placements with the same predicates share
 * one class.
 */
export class PredicateClass implements FilterClass {
  /**
   * One selector per predicate. Empty if there are no predicates, so that every cluster passes, or
   * if one of them is invalid.
   */
  readonly selectors: readonly CompiledClusterSelector[];
  /** The error of the first invalid predicate. */
  readonly problem: string | undefined;
  readonly usesCel: boolean;
  readonly passNew: Bitset;
  readonly passDecided: Bitset;

  constructor(predicates: readonly ClusterPredicate[], clusterIndex: ClusterIndex, compileCel: CompileCel) {
    const compiled = predicates.map(({ requiredClusterSelector }) =>
      compileClusterSelector(requiredClusterSelector ?? {}, compileCel),
    );
    this.problem = compiled.map((result) => (result.ok ? undefined : result.error)).find(Boolean);
    this.selectors =
      this.problem === undefined ? compiled.flatMap((result) => (result.ok ? [result.selector] : [])) : [];
    this.usesCel = this.selectors.some((selector) => selector.cel.length > 0);
    this.passNew = this.#select(predicates, clusterIndex);
    this.passDecided = this.passNew;
  }

  /** Label keys that the predicates read. */
  get labelKeys(): string[] {
    return this.selectors.flatMap(({ labels }) => labels.requirements.map(({ key }) => key));
  }

  get claimKeys(): string[] {
    return this.selectors.flatMap(({ claims }) => claims.requirements.map(({ key }) => key));
  }

  /** Evaluates one cluster again. Returns true if the result changed. */
  refresh(cluster: number, clusterIndex: ClusterIndex): boolean {
    if (this.selectors.length === 0) return false;
    const find = scoreFinderFor(clusterIndex, cluster);
    const passes = this.selectors.some((one) => matchesCluster(one, clusterIndex.cluster(cluster), find));
    const changed = hasBit(this.passNew, cluster) !== passes;
    putBit(this.passNew, cluster, passes);
    return changed;
  }

  #select(predicates: readonly ClusterPredicate[], clusterIndex: ClusterIndex): Bitset {
    if (predicates.length === 0) return makeFullBitset(clusterIndex.size);
    const [first, ...others] = this.selectors;
    if (first === undefined) return makeBitset(clusterIndex.size);
    const bits = selectClusters(first, clusterIndex);
    for (const other of others) uniteWith(bits, selectClusters(other, clusterIndex));
    return bits;
  }
}
