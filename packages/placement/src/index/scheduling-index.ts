import type { Instant } from '@berth/kube/model/rfc3339';
import type { ClusterPredicate, Placement, SpreadConstraint, Toleration } from '@berth/ocm/kind/placement';
import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import type { CompileCel } from '../filter/cel-hook.ts';
import type { Eligibility } from '../filter/eligibility.ts';
import { PredicateClass } from '../filter/predicate-class.ts';
import { type FilterClasses, type Filters, filtersOf } from '../filter/feasible.ts';
import { TolerationClass } from '../filter/toleration-class.ts';
import { totalsBound, MAX_TOTAL } from '../prioritize/integer-totals.ts';
import { missingScoresOf } from '../prioritize/missing-scores.ts';
import { type PolicyResult, resolvePolicy } from '../prioritize/registry.ts';
import { ScoreExpiry } from '../prioritize/score-expiry.ts';
import { type GroupPlanResult, planGroups } from '../select/decision-groups.ts';
import { breaksTiesByPreferNoSelect } from '../select/rank.ts';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';

/** A placement with everything that depends only on its text, looked up or computed once. */
export interface CompiledPlacement extends FilterClasses {
  readonly filters: Filters;
  readonly placement: Placement;
  /** `namespace/name` */
  readonly key: string;
  /**
   * Whether the placement is being deleted or its scheduling is disabled. Then nothing is decided
   * or written.
   */
  readonly skipped: boolean;
  readonly policy: PolicyResult;
  readonly groups: GroupPlanResult;
  readonly limit: number;
  readonly spread: readonly SpreadConstraint[];
  readonly avoidPreferNoSelect: boolean;
  /**
   * All totals are whole numbers from −bound to bound, and clusters are ranked by total alone.
   * Undefined if this is not known.
   */
  readonly bound: number | undefined;
}

export function placementKey({ metadata }: Placement): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** The largest number of clusters that the placement selects. */
export function limitOf({ spec }: Placement): number {
  return spec?.numberOfClusters ?? Infinity;
}

/**
 * What the placements of one fleet share: sets and bindings, CEL programs, and predicates and
 * tolerations with equal text.
 */
export class SchedulingIndex {
  readonly clusterIndex: ClusterIndex;
  readonly eligibility: Eligibility;
  readonly predicates = new Map<string, PredicateClass>();
  readonly tolerations = new Map<string, TolerationClass>();
  /** All cluster numbers: 0, 1, … size − 1. */
  readonly everyCluster: Uint32Array;
  readonly scratch: ScratchBuffers;
  readonly scoreEnds: ScoreExpiry;
  readonly #compileCel: CompileCel;
  #now: Instant;

  constructor(
    clusterIndex: ClusterIndex,
    eligibility: Eligibility,
    given: { now: Instant; compileCel: CompileCel },
  ) {
    this.clusterIndex = clusterIndex;
    this.eligibility = eligibility;
    this.scratch = new ScratchBuffers(clusterIndex.size);
    this.scoreEnds = new ScoreExpiry(clusterIndex);
    this.everyCluster = Uint32Array.from(clusterIndex.names.keys());
    this.#now = given.now;
    this.#compileCel = given.compileCel;
  }

  get now(): Instant {
    return this.#now;
  }

  /**
   * Moves the clock.
   * @returns the toleration classes in which a cluster changed, each with those clusters
   */
  advance(now: Instant): { tolerations: TolerationClass; clusters: readonly number[] }[] {
    this.#now = now;
    return [...this.tolerations.values()].flatMap((tolerations) => {
      const clusters = tolerations.advance(this.clusterIndex, now);
      return clusters.length === 0 ? [] : [{ tolerations, clusters }];
    });
  }

  /** Drops the predicates that no placement uses, so that only used ones are kept up to date. */
  keepPredicates(isUsed: (predicate: PredicateClass) => boolean): void {
    for (const [text, predicate] of this.predicates) if (!isUsed(predicate)) this.predicates.delete(text);
  }

  /**
   * @param options.extraBindings names of cluster sets that count as bound to the namespace of the
   * placement
   * @param options.temporary true if the placement is only tried; its predicates are not stored
   */
  compile(
    placement: Placement,
    {
      extraBindings = [],
      temporary = false,
    }: { extraBindings?: readonly string[]; temporary?: boolean } = {},
  ): CompiledPlacement {
    const { metadata, spec } = placement;
    const classes = {
      eligibility: this.eligibility.classOf(placement, extraBindings),
      predicate: this.#predicateClass(spec?.predicates ?? [], temporary),
      tolerations: this.#tolerationClass(spec?.tolerations ?? []),
    };
    const policy = resolvePolicy(spec?.prioritizerPolicy, missingScoresOf(placement));
    const spread = spec?.spreadPolicy?.spreadConstraints ?? [];
    const avoidPreferNoSelect = breaksTiesByPreferNoSelect(placement);
    const isByTotal = spread.length === 0 && !avoidPreferNoSelect;
    return {
      ...classes,
      filters: filtersOf(classes),
      placement,
      key: placementKey(placement),
      skipped: metadata.deletionTimestamp !== undefined || isDisabled(metadata.annotations),
      policy,
      groups: planGroups(placement),
      limit: limitOf(placement),
      spread,
      avoidPreferNoSelect,
      bound: policy.ok && isByTotal ? totalsBound(policy.prioritizers) : undefined,
    };
  }

  #predicateClass(predicates: readonly ClusterPredicate[], temporary: boolean): PredicateClass {
    const text = JSON.stringify(predicates);
    const known = this.predicates.get(text);
    if (known !== undefined) return known;
    const fresh = new PredicateClass(predicates, this.clusterIndex, this.#compileCel);
    if (!temporary) this.predicates.set(text, fresh);
    return fresh;
  }

  #tolerationClass(tolerations: readonly Toleration[]): TolerationClass {
    const text = JSON.stringify(tolerations);
    const known = this.tolerations.get(text);
    if (known !== undefined) return known;
    const fresh = new TolerationClass(tolerations, this.clusterIndex, this.#now);
    this.tolerations.set(text, fresh);
    return fresh;
  }
}

function isDisabled(annotations: Readonly<Record<string, string>> | undefined): boolean {
  return (
    annotations !== undefined &&
    Object.hasOwn(annotations, SCHEDULING_DISABLE_ANNOTATION) &&
    annotations[SCHEDULING_DISABLE_ANNOTATION] === 'true'
  );
}

/**
 * Buffers that every decision uses again, with room for all clusters. Without them, a fleet would
 * spend more time on allocating and collecting large arrays than on scoring. The content of a buffer
 * is valid until its next use.
 */
export class ScratchBuffers {
  readonly #floats: Float64Array[] = [];
  readonly #size: number;
  /** The numbers of clusters, ascending. */
  readonly clusters: Uint32Array;
  /** The totals of `clusters`, at the same positions. */
  readonly totals: Int32Array;
  /** The numbers of clusters, best first. */
  readonly ranked: Uint32Array;
  /** The totals of `ranked`, at the same positions. */
  readonly rankedTotals: Float64Array;
  /** One number per total that can be sorted by counting. */
  readonly levels = new Uint32Array(2 * MAX_TOTAL + 2);
  /** One byte per cluster, always 0. Read only. */
  readonly zeros: Int8Array;
  /** One byte per cluster. Code that sets a byte must clear it again. */
  readonly flags: Uint8Array;

  constructor(size: number) {
    this.#size = size;
    this.clusters = new Uint32Array(size);
    this.ranked = new Uint32Array(size);
    this.rankedTotals = new Float64Array(size);
    this.totals = new Int32Array(size);
    this.zeros = new Int8Array(size);
    this.flags = new Uint8Array(size);
  }

  /** A buffer of `count` floats with arbitrary content. Buffers of different slots do not overlap. */
  floats(slot: number, count: number): Float64Array {
    const buffer = (this.#floats[slot] ??= new Float64Array(this.#size));
    return buffer.subarray(0, count);
  }
}
