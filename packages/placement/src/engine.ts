import { compareInstants, type Instant, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { Placement } from '@berth/ocm/kind/placement';
import { InputError } from '@berth/runtime/errors';
import { decidePlacement, type DecisionBasis } from './decide/decide-placement.ts';
import type { DecidedState } from './decide/decided-state.ts';
import { type CompileCel, compileCel, memoizeCel } from './filter/cel-hook.ts';
import { Eligibility } from './filter/eligibility.ts';
import { carryOverDecision, type FleetChange } from './incremental/carry-over-decision.ts';
import { ImpactFinder } from './incremental/impact.ts';
import { isCountUnchanged, isDecisionCurrent, isRankingStale } from './incremental/keep-selection.ts';
import { ListedPlacements } from './incremental/listed-placements.ts';
import type { SnapshotDelta } from './incremental/snapshot-delta.ts';
import { applySnapshotDelta, changesTimeOnly, changesIndexStructure } from './incremental/snapshot-delta.ts';
import { updateDecision } from './incremental/update-decision.ts';
import { type CompiledPlacement, SchedulingIndex } from './index/scheduling-index.ts';
import { DecisionIndex } from './prior/decision-index.ts';
import type { PublishedClusterLists } from './prior/published-clusters.ts';
import type { ScheduleResult } from './result/schedule-result.ts';
import { makeBitset } from './snapshot/bitset.ts';
import { ClusterIndex } from './snapshot/cluster-index.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { PlacementTrace } from './trace/trace.ts';

const NONE: readonly number[] = [];
/**
 * Yields one result after the other. When the caller asks for the next one, it may pass the clusters that are
 * published for the last one, if they differ. Later results use the published clusters.
 */
export type ResultGenerator = Generator<ScheduleResult, void, readonly string[] | undefined>;

/** How many clusters rankings that are computed ahead may contain. Each takes twelve bytes of memory. */
const MAX_RANKED_AHEAD = 16_000_000;

/**
 * Decides placements over an indexed snapshot. Clusters are numbers. Sets, selectors and tolerations are bitsets that
 * placements with equal texts share. A decision takes a few operations on them, a score per feasible cluster, and a
 * selection of the best. It is stored as bits and numbers and becomes text on request (`trace`).
 *
 * Rejected: one filter call per placement and cluster, as in schedulers for single pods. Placements are few, clusters
 * many, and selectors repeat, so operations on whole bitsets cost a hundredth of that.
 */
export class PlacementEngine {
  readonly #compileCel: CompileCel;
  readonly #keepsRankings: boolean;
  /** Provides clock, sets and bindings. Its other fields may be older than the indexes. */
  #snapshot: Snapshot;
  #index: SchedulingIndex;
  #decisions: DecisionIndex;
  readonly #listed: ListedPlacements;
  /** Placements without a ranking. They are decided in full at every change. */
  readonly #unranked = new WeakSet<CompiledPlacement>();
  /** The number of clusters in rankings that were computed ahead and are not used yet. */
  #rankedAhead = 0;

  constructor(snapshot: Snapshot, options: EngineOptions = {}) {
    this.#compileCel = memoizeCel(options.compileCel ?? compileCel);
    this.#keepsRankings = options.keepsRankings ?? true;
    this.#snapshot = snapshot;
    this.#index = indexSnapshot(snapshot, this.#compileCel);
    this.#decisions = new DecisionIndex(this.#index.clusterIndex, snapshot.decisions);
    this.#listed = new ListedPlacements(
      snapshot.placements.map((placement) => this.#index.compile(placement)),
    );
  }

  /** The current objects of the engine and its decisions. */
  get snapshot(): Snapshot {
    return { ...this.#objects, decisions: this.#decisions.objects() };
  }

  /** The current objects without decisions. */
  get #objects(): Snapshot {
    const { clusterIndex } = this.#index;
    return {
      now: this.#snapshot.now,
      placements: this.#listed.compiled.map(({ placement }) => placement),
      clusters: clusterIndex.clusters,
      clusterSets: this.#snapshot.clusterSets,
      bindings: this.#snapshot.bindings,
      decisions: [],
      scores: clusterIndex.scores,
    };
  }

  /** Schedules every placement in the listed order. Each new decision replaces the old one before the next. */
  scheduleAll(): readonly ScheduleResult[] {
    return this.#listed.compiled.map((_, position) => this.#scheduleOrHold(position).result);
  }

  /** Like `scheduleAll`, but computes each result on demand. Later results use what is published for earlier ones. */
  *scheduleEach(): ResultGenerator {
    for (let position = 0; position < this.#listed.compiled.length; position++) {
      const { result, compiled } = this.#scheduleOrHold(position);
      const publishedClusters = yield result;
      if (publishedClusters !== undefined) this.recordPublished(compiled.key, publishedClusters);
    }
  }

  /** The latest result of each scheduled placement, in the listed order. */
  results(): readonly ScheduleResult[] {
    return this.#listed.states.flatMap((state) => (state === undefined ? [] : [state.result]));
  }

  /** @param key `namespace/name` */
  result(key: string): ScheduleResult | undefined {
    return this.#listed.stateOf(key)?.result;
  }

  /** Explains a decision, with the current decisions of the other placements. Valid until the engine changes. */
  trace(key: string): PlacementTrace | undefined {
    const state = this.#upToDateState(key);
    return state === undefined ? undefined : new PlacementTrace(this.#index, state, this.#decisions);
  }

  /** The trace of the placement at a position, for snapshots that list a key twice. */
  traceAt(position: number): PlacementTrace | undefined {
    const state = this.#listed.states[position];
    return state === undefined ? undefined : new PlacementTrace(this.#index, state, this.#decisions);
  }

  /**
   * Decides an edited placement over the clusters of the last decision for its key. Records nothing.
   * @param extraBindings names of sets that count as bound to the namespace of the placement
   */
  tryPlacement(
    placement: Placement,
    extraBindings: readonly string[] = [],
  ): { readonly result: ScheduleResult; readonly trace: PlacementTrace } {
    const compiled = this.#index.compile(placement, { extraBindings, temporary: true });
    const last = this.#upToDateState(compiled.key);
    const basis = this.#basisOf(compiled.key);
    const prior = last?.prior ?? basis.prior;
    const kept = last !== undefined && last.kept.size > 0 ? last.kept : undefined;
    const state = decidePlacement(this.#index, compiled, { ...basis, prior, kept });
    return { result: state.result, trace: new PlacementTrace(this.#index, state, this.#decisions) };
  }

  /** Sets published decisions that differ from what the engine decided. Schedules nothing. */
  recordPublished(key: string, clusters: readonly string[]): void {
    this.#decisions.put(key, this.#decisions.knownDecisionsOf(clusters));
  }

  /**
   * Applies a change and schedules the placements that it can affect, in the listed order and with the current
   * decisions. Placements that were never scheduled are scheduled. Every other result stays. It equals a full
   * computation from the current objects and the decisions of its time.
   * @returns the results that were computed again
   */
  applyDelta(delta: SnapshotDelta): readonly ScheduleResult[] {
    const touched = this.#updateInputs(delta);
    const { states } = this.#listed;
    const isAffected = (state: DecidedState | undefined, position: number): boolean =>
      state === undefined || touched.has(position) || !isCountUnchanged(state);
    const affected = [...states.keys()].filter((position) => isAffected(states[position], position));
    return affected.map((position) => this.#reschedule(position, touched.get(position)).result);
  }

  /**
   * Applies a change and schedules every placement, with the results of `scheduleAll` of a new engine. Unlike
   * `applyDelta`, it also reschedules a placement when decisions of others changed. An unaffected placement keeps its
   * result object. Each result is computed on demand. A caller that needs no more results must end the generator
   * before it uses the engine again. The remaining results are computed the next time.
   * @param snapshot with all placements in the order in which to schedule them
   */
  *scheduleAgain(
    delta: SnapshotDelta,
    { placements: listed, held }: Pick<Snapshot, 'placements' | 'held'>,
    published: PublishedClusterLists,
  ): ResultGenerator {
    const touched = this.#updateInputs(delta);
    this.#decisions.publish(published);
    // While decisions are published, the process is not idle.
    const isIdle = this.#keepsRankings && changesTimeOnly(delta) && published.changed?.size === 0;
    const open = new Set(touched.keys());
    let next = 0;
    try {
      for (const placement of listed) {
        const position = this.#listed.positionNear(next, placement);
        next = position + 1;
        const state = this.#listed.states[position];
        const isSame =
          state !== undefined && !touched.has(position) && isDecisionCurrent(state, this.#decisions);
        const { result, compiled } = isSame
          ? this.#keepUnchanged(position, state, isIdle)
          : this.#reschedule(position, touched.get(position), true);
        open.delete(position);
        const published = (yield result) ?? held?.[compiled.key];
        if (published !== undefined) this.recordPublished(compiled.key, published);
      }
    } finally {
      for (const position of open) this.#listed.forget(position);
    }
  }

  /**
   * Updates placements, index and clock.
   * @returns positions of the placements that this can affect, each with the clusters that affect it
   */
  #updateInputs(given: SnapshotDelta): ReadonlyMap<number, readonly number[]> {
    // A cluster that one delta both removes and adds is handled as a changed cluster.
    const addedNames = new Set(given.clusters?.map(({ metadata }) => metadata.name));
    const delta = {
      ...given,
      removedClusters: given.removedClusters?.filter((name) => !addedNames.has(name)),
    };
    this.#editPlacements(delta);
    const now = delta.now === undefined ? this.#index.now : parseNow(delta.now);
    const isClockSetBack = compareInstants(now, this.#index.now) < 0;
    const mustRebuild = isClockSetBack || changesIndexStructure(delta, this.#index.clusterIndex);
    const joined = mustRebuild ? this.#rebuild(delta, isClockSetBack ? now : undefined) : [];
    const impact = new ImpactFinder(this.#index, this.#listed.states, this.#listed.dependents);
    for (const [position, clusters] of joined) impact.touch(position, clusters);
    impact.replaceObjects(delta);
    if (!isClockSetBack) impact.advance(now);
    this.#snapshot = { ...this.#snapshot, now: delta.now ?? this.#snapshot.now };
    return impact.findAffected();
  }

  /** Adds and removes placements. A placement whose inputs changed loses its state. */
  #editPlacements({ placements = [], removedPlacements = [] }: SnapshotDelta): void {
    if (placements.length === 0 && removedPlacements.length === 0) return;
    for (const key of removedPlacements) this.#decisions.remove(key);
    if (removedPlacements.length > 0) this.#listed.remove(new Set(removedPlacements));
    this.#listed.put(placements, (placement) => this.#index.compile(placement));
    this.#index.keepPredicates((predicate) => this.#listed.dependents.ofClass(predicate).size > 0);
  }

  /**
   * Builds the index again after clusters, sets or bindings were added or removed. Unaffected states are carried
   * over.
   * @returns positions of carried states, each with the new clusters that the placement must check
   */
  #rebuild(delta: SnapshotDelta, turnedBackTo: Instant | undefined): ReadonlyMap<number, readonly number[]> {
    const { clusterIndex: before, now } = this.#index;
    const joining = (delta.clusters ?? []).filter(
      ({ metadata: { name } }) => before.numberOf(name) === undefined,
    );
    const { clusterSets, bindings, removedClusters } = delta;
    const structure = { clusters: joining, clusterSets, bindings, removedClusters };
    this.#snapshot = applySnapshotDelta(this.#objects, structure);
    this.#index = indexSnapshot(this.#snapshot, this.#compileCel, turnedBackTo ?? now);
    const { decisionIndex, numbers } = this.#decisions.renumberFor(this.#index.clusterIndex);
    this.#decisions = decisionIndex;
    const fleet = turnedBackTo === undefined ? { numbers, counts: decisionIndex.counts } : undefined;
    const carried = carryOverPlacements(this.#index, this.#listed, fleet);
    this.#rankedAhead = carried.ranked;
    return carried.joined;
  }

  #scheduleOrHold(position: number): DecidedState {
    const state = this.#schedule(position);
    const held = this.#snapshot.held?.[state.compiled.key];
    if (held !== undefined) this.recordPublished(state.compiled.key, held);
    return state;
  }

  #schedule(position: number, keepRanking = false): DecidedState {
    const compiled = this.#listed.compiled[position] as CompiledPlacement;
    const basis = this.#basisOf(compiled.key, { keepRanking, old: this.#listed.states[position] });
    return this.#keep(position, decidePlacement(this.#index, compiled, basis));
  }

  #basisOf(
    key: string,
    { keepRanking, old }: Pick<DecisionBasis, 'keepRanking' | 'old'> = {},
  ): DecisionBasis {
    const prior = this.#decisions.own(key);
    const { counts, countScores } = this.#decisions;
    const given = { prior, countLogLength: this.#decisions.countLog.length, keepRanking, old };
    if (prior.repeats.length > 0) {
      const counted = makeBitset(this.#index.clusterIndex.size);
      return { ...given, ...this.#decisions.withoutOwn(key), counted };
    }
    const most = this.#decisions.maxCountWithout(prior);
    return { ...given, counts, counted: prior.bits, most, countScores };
  }

  /** Decides again, from the earlier ranking if possible. `touched` are the clusters that changed since then. */
  #reschedule(position: number, touched: readonly number[] = NONE, mayLag = false): DecidedState {
    const before = this.#listed.states[position];
    const moved =
      before && updateDecision(this.#index, before, { decisionIndex: this.#decisions, touched, mayLag });
    return moved === undefined ? this.#schedule(position, this.#keepsRankings) : this.#keep(position, moved);
  }

  #upToDateState(key: string): DecidedState | undefined {
    const position = this.#listed.positionOf(key);
    const state = position === undefined ? undefined : this.#listed.states[position];
    return position === undefined || state === undefined || !isRankingStale(state)
      ? state
      : this.#reschedule(position);
  }

  /** Keeps the result. When idle, it also ranks all clusters, so that the next change can start from this ranking. */
  #keepUnchanged(position: number, state: DecidedState, isIdle: boolean): DecidedState {
    const { compiled, result, ranking, stage } = state;
    const isReady = ranking !== undefined || stage !== 'done' || this.#unranked.has(compiled);
    if (isReady || !isIdle || this.#rankedAhead >= MAX_RANKED_AHEAD) return this.#keep(position, state);
    const ranked = decidePlacement(this.#index, compiled, this.#basisOf(compiled.key, { keepRanking: true }));
    this.#rankedAhead += ranked.ranking?.count ?? 0;
    if (ranked.ranking === undefined) this.#unranked.add(compiled);
    return this.#keep(position, { ...ranked, result });
  }

  #keep(position: number, state: DecidedState): DecidedState {
    const recorded = this.#decisions.put(state.compiled.key, state.recorded);
    const { outcome, selected } = state.result;
    const isSelection = outcome === 'scheduled' || outcome === 'unsatisfied';
    if (isSelection && state !== this.#listed.states[position]) this.#decisions.register(selected, recorded);
    // The object of the index makes later comparisons fast: they stop at object identity.
    const kept = recorded === state.recorded ? state : { ...state, recorded };
    this.#listed.keep(position, kept);
    return kept;
  }
}

function parseNow(text: string): Instant {
  const now = parseRfc3339(text);
  if (now === undefined)
    throw new InputError(`got ${JSON.stringify(text)}, expected an RFC 3339 time like 2026-03-01T12:00:00Z`, {
      code: 'world.now',
      subject: 'now',
    });
  return now;
}

/** The indexes of the objects of a snapshot. Its placements are compiled later. */
export function indexSnapshot(
  snapshot: Snapshot,
  compileCel: CompileCel,
  now = parseNow(snapshot.now),
): SchedulingIndex {
  const clusterIndex = new ClusterIndex(snapshot.clusters, snapshot.scores);
  const eligibility = new Eligibility(snapshot.clusterSets, snapshot.bindings, clusterIndex);
  return new SchedulingIndex(clusterIndex, eligibility, { now, compileCel });
}

/**
 * Compiles all placements for the new fleet and carries over their decisions.
 * @param fleet undefined if no decision can be carried over
 * @returns the positions of placements that must check added clusters, and the number of clusters
 * in all rankings
 */
function carryOverPlacements(
  index: SchedulingIndex,
  listed: ListedPlacements,
  fleet: FleetChange | undefined,
): { readonly joined: ReadonlyMap<number, readonly number[]>; readonly ranked: number } {
  const joined = new Map<number, readonly number[]>();
  let ranked = 0;
  listed.replaceAll((placement, position, state) => {
    const compiled = index.compile(placement);
    const carried =
      state === undefined || fleet === undefined ? undefined : carryOverDecision(state, compiled, fleet);
    if (carried !== undefined && carried.joined.length > 0) joined.set(position, carried.joined);
    ranked += carried?.state.ranking?.count ?? 0;
    return { compiled, state: carried?.state };
  });
  return { joined, ranked };
}

export interface EngineOptions {
  /** Compiles CEL. Default: the one of @berth/kube-cel. */
  readonly compileCel?: CompileCel | undefined;
  /**
   * Whether the rankings of decisions are kept, so that the next change of a cluster starts from them. They take time and
   * memory, and pay where the same placements are decided again and again. Default: true.
   */
  readonly keepsRankings?: boolean | undefined;
}

/**
 * Schedules every placement of the snapshot once, in the listed order. Each result has the index of
 * its placement.
 */
export function scheduleAll(snapshot: Snapshot, options: EngineOptions = {}): readonly ScheduleResult[] {
  return new PlacementEngine(snapshot, options).scheduleAll();
}

/**
 * Schedules every placement of the snapshot once, in the listed order. Each result is computed when
 * the caller asks for it.
 */
export function scheduleEach(snapshot: Snapshot): ResultGenerator {
  return new PlacementEngine(snapshot).scheduleEach();
}
