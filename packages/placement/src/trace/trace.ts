import type { SpreadConstraint } from '@berth/ocm/kind/placement';
import { findSorted } from '@berth/runtime/lists/lower-bound';
import type { DecidedState } from '../decide/decided-state.ts';
import { rankClusters } from '../decide/select-ranked-clusters.ts';
import { matchingClusters } from '../filter/feasible.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';
import type { DecisionIndex } from '../prior/decision-index.ts';
import type { ScoreOrigin } from '../prioritize/prioritizer.ts';
import type { ScoredClusters } from '../prioritize/score-clusters.ts';
import { bitsToArray, countBits, hasBit } from '../snapshot/bitset.ts';
import { predicateFailures, taintVerdicts, type TraceFailure, type TraceTaint } from './trace-predicates.ts';
import {
  type DecisionContext,
  evaluateWhatIf,
  scoreDecidedClusters,
  type WhatIf,
  type WhatIfOutcome,
} from './what-if.ts';

export interface TraceScore {
  readonly total: number;
  readonly parts: readonly TracePart[];
}

export interface TracePart {
  readonly name: string;
  readonly weight: number;
  readonly score: number;
  /** The origin of a score that an add-on reports. */
  readonly origin?: ScoreOrigin;
}

/**
 * Explains one decided placement by cluster name. Everything is computed on demand. Scores are
 * computed once per trace.
 */
export class PlacementTrace {
  readonly state: DecidedState;
  readonly #index: SchedulingIndex;
  readonly #decisionIndex: DecisionIndex;
  #ranking: TraceRanking | undefined;

  constructor(index: SchedulingIndex, state: DecidedState, decisionIndex: DecisionIndex) {
    this.#index = index;
    this.state = state;
    this.#decisionIndex = decisionIndex;
  }

  get eligibleSets(): readonly string[] {
    return this.state.compiled.eligibility.sets;
  }

  get validBindings(): readonly string[] {
    return this.state.compiled.eligibility.validBindings;
  }

  get prioritizers(): readonly { readonly name: string; readonly weight: number }[] {
    const { policy } = this.state.compiled;
    if (!policy.ok || this.state.stage !== 'done') return [];
    return policy.prioritizers.map(({ prioritizer: { name }, weight }) => ({ name, weight }));
  }

  /** Every existing set that the cluster is a member of, bound or not. */
  setsOf(cluster: string): readonly string[] {
    const number = this.#index.clusterIndex.numberOf(cluster);
    return number === undefined
      ? []
      : this.#index.eligibility.setsOf(this.#index.clusterIndex.cluster(number));
  }

  isAvailable(cluster: string): boolean {
    return this.#has(this.state.compiled.eligibility.passNew, cluster);
  }

  passesPredicate(cluster: string): boolean {
    if (!this.#reached('predicate')) return false;
    return this.isAvailable(cluster) && this.#has(this.state.compiled.predicate.passNew, cluster);
  }

  passesTaints(cluster: string): boolean {
    return this.state.feasible !== undefined && this.#has(this.state.feasible, cluster);
  }

  /** The names of the available clusters, sorted. The next two methods sort their names too. */
  available(): readonly string[] {
    return this.#names(this.state.compiled.eligibility.passNew);
  }

  afterPredicate(): readonly string[] {
    return this.#reached('predicate') ? this.#names(matchingClusters(this.state.compiled)) : [];
  }

  afterTaints(): readonly string[] {
    return this.state.feasible === undefined ? [] : this.#names(this.state.feasible);
  }

  /** How many clusters passed all filters. */
  get feasibleCount(): number {
    return this.state.feasible === undefined ? 0 : countBits(this.state.feasible);
  }

  /**
   * For each predicate, the parts that the cluster fails. A cluster needs to match only one
   * predicate. The list is empty for a predicate that selects the cluster.
   */
  predicateFailures(cluster: string): readonly (readonly TraceFailure[])[] {
    const number = this.#index.clusterIndex.numberOf(cluster);
    return number === undefined
      ? []
      : predicateFailures(this.state.compiled.predicate, this.#index.clusterIndex, number);
  }

  taintVerdicts(cluster: string): readonly TraceTaint[] {
    const { clusterIndex, now } = this.#index;
    const number = clusterIndex.numberOf(cluster);
    if (number === undefined) return [];
    const decided = hasBit(this.state.prior.bits, number);
    return taintVerdicts(clusterIndex.cluster(number), this.state.compiled.tolerations.tolerations, {
      now,
      decided,
    });
  }

  /** Undefined for a cluster that is not feasible. */
  score(cluster: string): TraceScore | undefined {
    const ranking = this.#ranked();
    const position = ranking.positionOf(this.#index.clusterIndex.numberOf(cluster));
    if (position === undefined) return undefined;
    const parts = ranking.scored.parts.map(({ name, weight, scores }) => ({
      name,
      weight,
      score: numberOr0(scores[position]),
      ...this.#originOf(name, cluster),
    }));
    return { total: ranking.scored.totals[position] as number, parts };
  }

  /** Scores by cluster, for the clusters that got a score. */
  scoresBy(prioritizer: string): Record<string, number> {
    const { clusters, scored } = this.#ranked();
    const scores = scored.parts.find(({ name }) => name === prioritizer)?.scores ?? new Float64Array(0);
    const entries = Array.from(scores, (score, at) => [this.#nameAt(clusters, at), score] as const);
    return Object.fromEntries(entries.filter(([, score]) => !Number.isNaN(score)));
  }

  /** Total by cluster, for the feasible clusters. */
  totals(): Record<string, number> {
    const { clusters, scored } = this.#ranked();
    return Object.fromEntries(Array.from(scored.totals, (total, at) => [this.#nameAt(clusters, at), total]));
  }

  /** Feasible clusters best first. */
  ranking(): readonly string[] {
    const { clusters, order } = this.#ranked();
    return Array.from(order, (position) => this.#nameAt(clusters, position));
  }

  /** The rank of a cluster, from 1 for the best of the feasible clusters. */
  rank(cluster: string): number | undefined {
    const { positionOf, rankOf } = this.#ranked();
    const position = positionOf(this.#index.clusterIndex.numberOf(cluster));
    return position === undefined ? undefined : rankOf(position);
  }

  /**
   * The spread constraint that excluded a feasible cluster. Undefined if no place was left and no
   * worse cluster was selected.
   */
  spreadRefusal(cluster: string): SpreadConstraint | undefined {
    const { spread } = this.state.compiled;
    const rank = this.rank(cluster);
    const { selected } = this.state.result;
    if (spread.length === 0 || rank === undefined || selected.includes(cluster)) return undefined;
    const taken = new Set(selected);
    const worseWasTaken = this.ranking()
      .slice(rank)
      .some((name) => taken.has(name));
    if (!worseWasTaken && selected.length >= this.state.compiled.limit) return undefined;
    return spread.find(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule') ?? spread[0];
  }

  /** Scores and selects again over the feasible clusters and the included one. */
  whatIf(change: WhatIf): WhatIfOutcome {
    return evaluateWhatIf(this.#index, { state: this.state, decisionIndex: this.#decisionIndex }, change);
  }

  #ranked(): TraceRanking {
    this.#ranking ??= rankDecidedClusters(this.#index, {
      state: this.state,
      decisionIndex: this.#decisionIndex,
    });
    return this.#ranking;
  }

  #originOf(name: string, cluster: string): Pick<TracePart, 'origin'> {
    const { policy } = this.state.compiled;
    const found = policy.ok
      ? policy.prioritizers.find(({ prioritizer }) => prioritizer.name === name)
      : undefined;
    const { addOn, originOf } = found?.prioritizer ?? {};
    if (addOn === undefined || originOf === undefined) return {};
    const { clusterIndex, now } = this.#index;
    return { origin: originOf(clusterIndex.scoresOf(cluster).get(addOn), now) };
  }

  #reached(stage: 'predicate'): boolean {
    return this.state.stage === stage || this.state.stage === 'taints' || this.state.stage === 'done';
  }

  #has(bits: Uint32Array, cluster: string): boolean {
    const number = this.#index.clusterIndex.numberOf(cluster);
    return number !== undefined && hasBit(bits, number);
  }

  #names(bits: Uint32Array): string[] {
    return Array.from(bitsToArray(bits), (number) => this.#index.clusterIndex.names[number] as string);
  }

  #nameAt(clusters: Uint32Array, position: number): string {
    return this.#index.clusterIndex.names[clusters[position] as number] as string;
  }
}

function numberOr0(score: number | undefined): number {
  return score === undefined || Number.isNaN(score) ? 0 : score;
}

/** The feasible clusters of a decided placement, scored and ranked. */
interface TraceRanking {
  /** Cluster numbers, ascending. */
  readonly clusters: Uint32Array;
  readonly scored: ScoredClusters;
  /** Positions in `clusters`, best first. */
  readonly order: Uint32Array;
  /** Undefined for a cluster that is not feasible. */
  readonly positionOf: (number: number | undefined) => number | undefined;
  /** The rank of a position, from 1 for the best. */
  readonly rankOf: (position: number) => number;
}

function rankDecidedClusters(index: SchedulingIndex, decided: DecisionContext): TraceRanking {
  const { compiled, feasible, stage } = decided.state;
  const clusters = feasible === undefined || stage !== 'done' ? new Uint32Array(0) : bitsToArray(feasible);
  const scored = scoreDecidedClusters(index, decided, clusters);
  const order = rankClusters({ compiled, clusters, totals: scored.totals }, clusters.length);
  const ranks = new Uint32Array(order.length);
  order.forEach((position, at) => (ranks[position] = at + 1));
  return {
    clusters,
    scored,
    order,
    positionOf: (number) => (number === undefined ? undefined : findSorted(clusters, number)),
    rankOf: (position) => ranks[position] as number,
  };
}
