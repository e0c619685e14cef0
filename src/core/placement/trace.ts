import type { ManagedCluster } from '../model/managed-cluster.ts';
import type { SpreadConstraint } from '../model/placement.ts';
import { bitsToArray, countBits, hasBit, putBit } from '../snapshot/bitset.ts';
import { scoreInput } from './decide-placement.ts';
import type { DecidedState } from './decided-state.ts';
import type { DecisionBook } from './decision-book.ts';
import { matchingClusters } from './feasible.ts';
import type { KeptScores, Scored } from './score-clusters.ts';
import { scoreClusters } from './score-clusters.ts';
import type { SchedulingIndex } from './scheduling-index.ts';
import type { ClusterOverride } from './select-ranked.ts';
import { rankAll, selectRanked } from './select-ranked.ts';
import type { TraceFailure } from './trace-predicates.ts';
import { predicateFailures } from './trace-predicates.ts';
import type { TraceTaint } from './trace-taints.ts';
import { taintVerdicts } from './trace-taints.ts';

export interface TraceScore {
  readonly total: number;
  readonly parts: readonly { readonly name: string; readonly weight: number; readonly score: number }[];
}

/** A small change to what is scored, with the filters left alone. */
export interface WhatIf {
  /** A cluster of the fleet that takes part with these labels, claims and resources, whether it passes the filters or not. */
  readonly include?: ManagedCluster | undefined;
  readonly numberOfClusters?: number | undefined;
  /** Instead of the recorded score of `include`. */
  readonly addOnScore?:
    | { readonly resourceName: string; readonly scoreName: string; readonly value: number }
    | undefined;
}

export interface WhatIfOutcome {
  /** Names in rank order, only the first so many when a limit is given. */
  readonly selected: (limitTo?: number) => readonly string[];
  /** 1 for the first of the selected clusters; undefined: not selected. */
  readonly place: (cluster: string) => number | undefined;
}

const NOBODY_SELECTED: WhatIfOutcome = { selected: () => [], place: () => undefined };

/** Answers about one decided placement, by cluster name. Computed when asked for; scores are computed once per trace. */
export class PlacementTrace {
  readonly state: DecidedState;
  readonly #index: SchedulingIndex;
  readonly #book: DecisionBook;
  #ranking: Ranking | undefined;

  constructor(index: SchedulingIndex, state: DecidedState, book: DecisionBook) {
    this.#index = index;
    this.state = state;
    this.#book = book;
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
    const number = this.#index.fleet.numberOf(cluster);
    return number === undefined ? [] : this.#index.eligibility.setsOf(this.#index.fleet.cluster(number));
  }

  isAvailable(cluster: string): boolean {
    return this.#has(this.state.compiled.eligibility.bits, cluster);
  }

  passesPredicate(cluster: string): boolean {
    if (!this.#reached('predicate')) return false;
    return this.isAvailable(cluster) && this.#has(this.state.compiled.predicate.bits, cluster);
  }

  passesTaints(cluster: string): boolean {
    return this.state.feasible !== undefined && this.#has(this.state.feasible, cluster);
  }

  /** Sorted names; the same for the next two. */
  available(): readonly string[] {
    return this.#names(this.state.compiled.eligibility.bits);
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

  /** Per predicate (they are ORed) the parts that the cluster fails; an empty list for one that selects it. */
  predicateFailures(cluster: string): readonly (readonly TraceFailure[])[] {
    const number = this.#index.fleet.numberOf(cluster);
    return number === undefined
      ? []
      : predicateFailures(this.state.compiled.predicate, this.#index.fleet, number);
  }

  taintVerdicts(cluster: string): readonly TraceTaint[] {
    const { fleet, now } = this.#index;
    const number = fleet.numberOf(cluster);
    if (number === undefined) return [];
    const decided = hasBit(this.state.prior.bits, number);
    return taintVerdicts(fleet.cluster(number), this.state.compiled.tolerations.tolerations, {
      now,
      decided,
    });
  }

  /** Undefined for a cluster that is not feasible. */
  score(cluster: string): TraceScore | undefined {
    const ranking = this.#ranked();
    const position = ranking.positionOf(this.#index.fleet.numberOf(cluster));
    if (position === undefined) return undefined;
    const parts = ranking.scored.parts.map(({ name, weight, scores }) => ({
      name,
      weight,
      score: numberOr0(scores[position]),
    }));
    return { total: ranking.scored.totals[position] as number, parts };
  }

  /** Scores by cluster, of those that got one. */
  scoresBy(prioritizer: string): Record<string, number> {
    const { clusters, scored } = this.#ranked();
    const scores = scored.parts.find(({ name }) => name === prioritizer)?.scores ?? new Float64Array(0);
    const entries = Array.from(scores, (score, at) => [this.#nameAt(clusters, at), score] as const);
    return Object.fromEntries(entries.filter(([, score]) => !Number.isNaN(score)));
  }

  /** Total by cluster, of the feasible ones. */
  totals(): Record<string, number> {
    const { clusters, scored } = this.#ranked();
    return Object.fromEntries(Array.from(scored.totals, (total, at) => [this.#nameAt(clusters, at), total]));
  }

  /** Feasible clusters best first. */
  ranking(): readonly string[] {
    const { clusters, order } = this.#ranked();
    return Array.from(order, (position) => this.#nameAt(clusters, position));
  }

  /** 1 for the best of the feasible clusters. */
  rank(cluster: string): number | undefined {
    const { positionOf, rankOf } = this.#ranked();
    const position = positionOf(this.#index.fleet.numberOf(cluster));
    return position === undefined ? undefined : rankOf(position);
  }

  /** The smallest total that was selected. */
  get cutoffTotal(): number | undefined {
    const { selectedScores } = this.state.result;
    return selectedScores.length === 0
      ? undefined
      : Math.min(...selectedScores.slice(-1), selectedScores[0] as number);
  }

  /** The spread constraint that kept a feasible cluster out although a worse one was taken or places were left. */
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
    const { compiled, feasible } = this.state;
    const { fleet } = this.#index;
    if (feasible === undefined || !compiled.policy.ok) return NOBODY_SELECTED;
    const override = this.#override(change.include);
    const bits = feasible.slice();
    if (override !== undefined) putBit(bits, override.number, true);
    const clusters = bitsToArray(bits);
    const { totals } = this.#score(clusters, { override, addOnScore: change.addOnScore });
    const limit = change.numberOfClusters ?? compiled.limit;
    const { positions } = selectRanked({ compiled, fleet, clusters, totals, limit, override });
    const positionOf = (name: string): number | undefined => findSorted(clusters, fleet.numberOf(name));
    return {
      selected: (limitTo = positions.length) =>
        Array.from(positions.subarray(0, limitTo), (position) => this.#nameAt(clusters, position)),
      place: (name) => {
        const position = positionOf(name);
        const at = position === undefined ? -1 : positions.indexOf(position);
        return at < 0 ? undefined : at + 1;
      },
    };
  }

  #override(include: ManagedCluster | undefined): ClusterOverride | undefined {
    if (include === undefined) return undefined;
    const number = this.#index.fleet.numberOf(include.metadata.name);
    return number === undefined ? undefined : { number, cluster: include };
  }

  #ranked(): Ranking {
    if (this.#ranking !== undefined) return this.#ranking;
    const { compiled, feasible, stage } = this.state;
    const clusters = feasible === undefined || stage !== 'done' ? new Uint32Array(0) : bitsToArray(feasible);
    const scored = this.#score(clusters, {});
    const { fleet } = this.#index;
    const order = rankAll({ compiled, fleet, clusters, totals: scored.totals, limit: 0 }, clusters.length);
    const ranks = new Uint32Array(order.length);
    order.forEach((position, at) => (ranks[position] = at + 1));
    const positionOf = (number: number | undefined): number | undefined => findSorted(clusters, number);
    this.#ranking = { clusters, scored, order, positionOf, rankOf: (position) => ranks[position] as number };
    return this.#ranking;
  }

  #score(
    clusters: Uint32Array,
    { override, addOnScore }: { override?: ClusterOverride | undefined; addOnScore?: WhatIf['addOnScore'] },
  ): Scored {
    const { compiled, prior, kept } = this.state;
    if (!compiled.policy.ok) return { parts: [], totals: new Float64Array(0), ranges: [], expired: [] };
    // What others decided stands in the kept scores.
    const base = scoreInput(this.#index, { prior, counts: this.#book.counts, counted: prior.bits, most: 0 });
    const { fleet } = this.#index;
    const seen =
      override === undefined
        ? base
        : {
            ...base,
            amounts: (resource: Parameters<typeof fleet.amounts>[0]) =>
              fleet.amounts(resource).with(override.number, fleet.amountOf(override.cluster, resource)),
            addOnScore: (cluster: number, name: string) =>
              cluster === override.number && addOnScore?.resourceName === name
                ? scoreObject(addOnScore)
                : base.addOnScore(cluster, name),
          };
    const known: KeptScores = kept;
    return scoreClusters(compiled.policy.prioritizers, { ...seen, clusters }, known);
  }

  #reached(stage: 'predicate'): boolean {
    return this.state.stage === stage || this.state.stage === 'taints' || this.state.stage === 'done';
  }

  #has(bits: Uint32Array, cluster: string): boolean {
    const number = this.#index.fleet.numberOf(cluster);
    return number !== undefined && hasBit(bits, number);
  }

  #names(bits: Uint32Array): string[] {
    return Array.from(bitsToArray(bits), (number) => this.#index.fleet.names[number] as string);
  }

  #nameAt(clusters: Uint32Array, position: number): string {
    return this.#index.fleet.names[clusters[position] as number] as string;
  }
}

interface Ranking {
  /** Feasible clusters, ascending. */
  readonly clusters: Uint32Array;
  readonly scored: Scored;
  /** Positions, best first. */
  readonly order: Uint32Array;
  readonly positionOf: (number: number | undefined) => number | undefined;
  readonly rankOf: (position: number) => number;
}

/** Position of a number in an ascending list. */
function findSorted(list: Uint32Array, wanted: number | undefined): number | undefined {
  if (wanted === undefined) return undefined;
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return list[low] === wanted ? low : undefined;
}

function numberOr0(score: number | undefined): number {
  return score === undefined || Number.isNaN(score) ? 0 : score;
}

function scoreObject({ resourceName, scoreName, value }: NonNullable<WhatIf['addOnScore']>) {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1alpha1',
    kind: 'AddOnPlacementScore' as const,
    metadata: { name: resourceName },
    status: { scores: [{ name: scoreName, value }] },
  };
}
