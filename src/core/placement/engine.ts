import type { Placement } from '../model/kind/placement.ts';
import type { Instant } from '../model/rfc3339.ts';
import { compareInstants } from '../model/rfc3339.ts';
import { makeBitset } from '../snapshot/bitset.ts';
import type { World } from '../snapshot/world.ts';
import { carryOver } from './follow/carry-over.ts';
import type { CompileCel } from './filter/cel-hook.ts';
import { compileCel, rememberCel } from './filter/cel-hook.ts';
import type { DecisionBasis } from './decide/decide-placement.ts';
import { decidePlacement } from './decide/decide-placement.ts';
import type { DecidedState } from './decide/decided-state.ts';
import { DecisionBook } from './prior/decision-book.ts';
import { ImpactFinder } from './follow/impact.ts';
import { indexWorld, parseNow } from './index/index-world.ts';
import { ListedPlacements } from './follow/listed-placements.ts';
import type { Published } from './prior/published-clusters.ts';
import { isSettled, lags } from './follow/keep-selection.ts';
import { redecidePlacement } from './follow/redecide-placement.ts';
import type { ScheduleResult } from './result/schedule-result.ts';
import type { CompiledPlacement, SchedulingIndex } from './index/scheduling-index.ts';
import { PlacementTrace } from './trace/trace.ts';
import type { WorldDelta } from './follow/world-delta.ts';
import { applyToWorld, changesNothing, changesStructure } from './follow/world-delta.ts';

export interface EngineOptions {
  /** Default: the CEL of core/cel. */
  readonly compileCel?: CompileCel | undefined;
}

const NONE: readonly number[] = [];
/**
 * Yields one result after the other. When a caller asks for the next one, it may pass the clusters that are published
 * for the last one if these differ; later results count these.
 */
export type EachResult = Generator<ScheduleResult, void, readonly string[] | undefined>;

/** Twelve bytes each: rankings that are computed ahead must not fill the memory. */
const MAX_RANKED_AHEAD = 16_000_000;

/**
 * Decides placements over an indexed world. Clusters are numbers; sets, selectors and tolerations are bitsets that
 * placements with equal texts share; a decision is a few operations on them, a score per feasible cluster and a
 * selection of the best. What was decided stays as bits and numbers and becomes text when somebody asks (`trace`).
 *
 * Rejected: one filter call per placement and cluster, as schedulers do whose pods come one at a time. Placements are
 * few, clusters many and selectors repeat, so whole sets at a time cost a hundredth.
 */
export class PlacementEngine {
  readonly #compileCel: CompileCel;
  /** Used for its clock, sets and bindings; other fields may be older than the index and the book. */
  #world: World;
  #index: SchedulingIndex;
  #book: DecisionBook;
  readonly #listed: ListedPlacements;
  /** Placements that must be decided in full at every change. */
  readonly #unranked = new WeakSet<CompiledPlacement>();
  /** The number of clusters in rankings that were computed ahead and not used yet. */
  #rankedAhead = 0;

  constructor(world: World, options: EngineOptions = {}) {
    this.#compileCel = rememberCel(options.compileCel ?? compileCel);
    this.#world = world;
    this.#index = indexWorld(world, this.#compileCel);
    this.#book = new DecisionBook(this.#index.fleet, world.decisions);
    this.#listed = new ListedPlacements(world.placements.map((placement) => this.#index.compile(placement)));
  }

  /** The current objects of the engine, with its decisions. */
  get world(): World {
    return { ...this.#objects, decisions: this.#book.objects() };
  }

  /** Without decisions. */
  get #objects(): World {
    const { fleet } = this.#index;
    return {
      now: this.#world.now,
      placements: this.#listed.compiled.map(({ placement }) => placement),
      clusters: fleet.clusters,
      clusterSets: this.#world.clusterSets,
      bindings: this.#world.bindings,
      decisions: [],
      scores: fleet.scores,
    };
  }

  /** Schedules every placement in the listed order; each one's new decisions replace its old ones before the next. */
  scheduleAll(): readonly ScheduleResult[] {
    return this.#listed.compiled.map((_, position) => this.#scheduleOrHold(position).result);
  }

  /** The same, each result when it is asked for: the next ones count what is published for it. */
  *scheduleEach(): EachResult {
    for (let position = 0; position < this.#listed.compiled.length; position++) {
      const { result, compiled } = this.#scheduleOrHold(position);
      const published = yield result;
      if (published !== undefined) this.recordPublished(compiled.key, published);
    }
  }

  /** Schedules in the listed order up to and including one placement; undefined when there is none of that key. */
  scheduleUntil(key: string): ScheduleResult | undefined {
    const last = this.#listed.positionOf(key);
    if (last === undefined) return undefined;
    for (let position = 0; position <= last; position++) this.#scheduleOrHold(position);
    return this.result(key);
  }

  /** The latest result per placement that was scheduled, in the listed order. */
  results(): readonly ScheduleResult[] {
    return this.#listed.states.flatMap((state) => (state === undefined ? [] : [state.result]));
  }

  /** @param key `namespace/name` */
  result(key: string): ScheduleResult | undefined {
    return this.#listed.stateOf(key)?.result;
  }

  /**
   * Explains one placement from its decision. Valid until the engine changes. After `scheduleAgain` the decisions of
   * others are the current ones.
   */
  trace(key: string): PlacementTrace | undefined {
    const state = this.#caughtUp(key);
    return state === undefined ? undefined : new PlacementTrace(this.#index, state, this.#book);
  }

  /** The trace of the placement listed at a position; for worlds in which a key is listed twice. */
  traceAt(position: number): PlacementTrace | undefined {
    const state = this.#listed.states[position];
    return state === undefined ? undefined : new PlacementTrace(this.#index, state, this.#book);
  }

  /**
   * Decides an edited placement over the same clusters as when the one of its key was last scheduled. Nothing is
   * recorded.
   * @param extraBindings names of sets that are taken as bound to the placement's namespace
   */
  tryPlacement(
    placement: Placement,
    extraBindings: readonly string[] = [],
  ): { readonly result: ScheduleResult; readonly trace: PlacementTrace } {
    const compiled = this.#index.compile(placement, { extraBindings, passing: true });
    const last = this.#caughtUp(compiled.key);
    const basis = this.#basisOf(compiled.key);
    const prior = last?.prior ?? basis.prior;
    const kept = last !== undefined && last.kept.size > 0 ? last.kept : undefined;
    const state = decidePlacement(this.#index, compiled, { ...basis, prior, kept });
    return { result: state.result, trace: new PlacementTrace(this.#index, state, this.#book) };
  }

  /** Sets a placement's published decisions when they are not what the engine decided. Schedules nothing. */
  recordPublished(key: string, clusters: readonly string[]): void {
    this.#book.put(key, this.#book.decisionsOf(clusters));
  }

  /**
   * Applies a change and schedules the placements that it can affect, in the listed order, with the current
   * decisions. Every other result stays what a full computation from the current objects and the decisions of its
   * time would give. Placements that were never scheduled are scheduled.
   * @returns the results that were computed again
   */
  applyDelta(delta: WorldDelta): readonly ScheduleResult[] {
    const touched = this.#takeIn(delta);
    const { states } = this.#listed;
    const affected = [...states.keys()].filter(
      (position) => states[position] === undefined || touched.has(position),
    );
    return affected.map((position) => this.#reschedule(position, touched.get(position)).result);
  }

  /**
   * Applies a change and schedules every placement, with the results that `scheduleAll` of a new engine would have:
   * unlike `applyDelta`, it also reschedules a placement when decisions of others changed. An unaffected placement
   * keeps its result object. Each result is computed on demand. A caller that needs no more results must end the
   * generator before it uses the engine again; the rest is computed the next time.
   * @param listed all placements in the order in which to schedule them
   */
  *scheduleAgain(delta: WorldDelta, listed: readonly Placement[], published: Published): EachResult {
    const touched = this.#takeIn(delta);
    this.#book.publish(published);
    // While decisions are being published the process is not idle.
    const isIdle = changesNothing(delta) && published.changed?.size === 0;
    const open = new Set(touched.keys());
    let next = 0;
    try {
      for (const placement of listed) {
        const position = this.#listed.positionNear(next, placement);
        next = position + 1;
        const state = this.#listed.states[position];
        const isSame = state !== undefined && !touched.has(position) && isSettled(state, this.#book);
        const { result, compiled } = isSame
          ? this.#stay(position, state, isIdle)
          : this.#reschedule(position, touched.get(position), true);
        open.delete(position);
        const stays = yield result;
        if (stays !== undefined) this.recordPublished(compiled.key, stays);
      }
    } finally {
      for (const position of open) this.#listed.forget(position);
    }
  }

  /**
   * Updates placements, index and clock.
   * @returns positions of the placements that this can affect, each with the clusters that affect it
   */
  #takeIn(given: WorldDelta): ReadonlyMap<number, readonly number[]> {
    // A cluster that is removed and added in one delta is replaced: its results must not be carried over.
    const coming = new Set(given.clusters?.map(({ metadata }) => metadata.name));
    const delta = { ...given, removedClusters: given.removedClusters?.filter((name) => !coming.has(name)) };
    this.#editPlacements(delta);
    const now = delta.now === undefined ? this.#index.now : parseNow(delta.now);
    const isBack = compareInstants(now, this.#index.now) < 0;
    if (isBack || changesStructure(delta, this.#index.fleet)) this.#rebuild(delta, isBack ? now : undefined);
    const impact = new ImpactFinder(this.#index, this.#listed.states, this.#listed.dependents);
    const { fleet } = this.#index;
    for (const cluster of delta.clusters ?? []) {
      const number = fleet.numberOf(cluster.metadata.name);
      if (number !== undefined && fleet.cluster(number) !== cluster) impact.replaceCluster(number, cluster);
    }
    for (const key of delta.removedScores ?? []) {
      const [namespace = '', name = ''] = key.split('/');
      impact.replaceScore(namespace, name, undefined);
    }
    for (const score of delta.scores ?? [])
      impact.replaceScore(score.metadata.namespace ?? '', score.metadata.name, score);
    if (!isBack) impact.advance(now);
    this.#world = { ...this.#world, now: delta.now ?? this.#world.now };
    return impact.affected;
  }

  /** Adds and removes placements; those whose inputs changed lose their state. */
  #editPlacements({ placements = [], removedPlacements = [] }: WorldDelta): void {
    if (placements.length === 0 && removedPlacements.length === 0) return;
    for (const key of removedPlacements) this.#book.take(key);
    if (removedPlacements.length > 0) this.#listed.remove(new Set(removedPlacements));
    this.#listed.put(placements.map((placement) => this.#index.compile(placement)));
    this.#index.keepPredicates((predicate) => this.#listed.dependents.ofClass(predicate).size > 0);
  }

  /** Indexes again after clusters, sets and bindings were added or removed; states that this does not touch are carried over. */
  #rebuild(delta: WorldDelta, turnedBackTo: Instant | undefined): void {
    const { fleet: before, now } = this.#index;
    const joining = (delta.clusters ?? []).filter(
      ({ metadata: { name } }) =>
        before.numberOf(name) === undefined || delta.removedClusters?.includes(name),
    );
    const { clusterSets, bindings, removedClusters } = delta;
    const world = applyToWorld(this.#objects, { clusters: joining, clusterSets, bindings, removedClusters });
    this.#world = world;
    this.#index = indexWorld(world, this.#compileCel, turnedBackTo ?? now);
    const { book, numbers: toNew } = this.#book.over(this.#index.fleet);
    this.#book = book;
    this.#rankedAhead = 0;
    const numbers = { toNew, before, after: this.#index.fleet };
    this.#listed.replaceAll((placement, state) => {
      const compiled = this.#index.compile(placement);
      const isKept = state !== undefined && turnedBackTo === undefined && !lags(state);
      return { compiled, state: isKept ? carryOver(state, compiled, numbers) : undefined };
    });
  }

  #scheduleOrHold(position: number): DecidedState {
    const state = this.#schedule(position);
    const held = this.#world.held?.[state.compiled.key];
    if (held !== undefined) this.recordPublished(state.compiled.key, held);
    return state;
  }

  #schedule(position: number, stand = false): DecidedState {
    const compiled = this.#listed.compiled[position] as CompiledPlacement;
    const basis = { ...this.#basisOf(compiled.key), stand, old: this.#listed.states[position] };
    return this.#keep(position, decidePlacement(this.#index, compiled, basis));
  }

  #basisOf(key: string): DecisionBasis {
    const prior = this.#book.own(key);
    const { counts, journal, countScores } = this.#book;
    const journalLength = journal.length;
    if (prior.repeats.length === 0) {
      const most = this.#book.mostWithout(prior);
      return { prior, counts, counted: prior.bits, most, countScores, journalLength };
    }
    const others = this.#book.withoutOwn(key);
    return { prior, ...others, counted: makeBitset(this.#index.fleet.size), journalLength };
  }

  /** From the earlier ranking if that is possible: `touched` are the clusters that changed since. */
  #reschedule(position: number, touched: readonly number[] = NONE, mayLag = false): DecidedState {
    const before = this.#listed.states[position];
    const moved = before && redecidePlacement(this.#index, before, { book: this.#book, touched, mayLag });
    return moved === undefined ? this.#schedule(position, true) : this.#keep(position, moved);
  }

  #caughtUp(key: string): DecidedState | undefined {
    const position = this.#listed.positionOf(key);
    const state = position === undefined ? undefined : this.#listed.states[position];
    return position === undefined || state === undefined || !lags(state) ? state : this.#reschedule(position);
  }

  /** Keeps the result. When idle, the ranking of all its clusters is computed: the next change starts from there. */
  #stay(position: number, state: DecidedState, isIdle: boolean): DecidedState {
    const { compiled, result, standing, stage } = state;
    const isReady = standing !== undefined || stage !== 'done' || this.#unranked.has(compiled);
    if (isReady || !isIdle || this.#rankedAhead >= MAX_RANKED_AHEAD) return this.#keep(position, state);
    const ranked = decidePlacement(this.#index, compiled, { ...this.#basisOf(compiled.key), stand: true });
    this.#rankedAhead += ranked.standing?.count ?? 0;
    if (ranked.standing === undefined) this.#unranked.add(compiled);
    return this.#keep(position, { ...ranked, result });
  }

  #keep(position: number, state: DecidedState): DecidedState {
    const recorded = this.#book.put(state.compiled.key, state.recorded);
    const { outcome, selected } = state.result;
    const isSelection = outcome === 'scheduled' || outcome === 'unsatisfied';
    if (isSelection && state !== this.#listed.states[position]) this.#book.know(selected, recorded);
    // The book's own object: what is the same object need not be compared again.
    const kept = recorded === state.recorded ? state : { ...state, recorded };
    this.#listed.keep(position, kept);
    return kept;
  }
}
