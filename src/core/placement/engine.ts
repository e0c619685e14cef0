import { InputError } from '../errors.ts';
import type { Instant } from '../model/rfc3339.ts';
import { parseRfc3339 } from '../model/rfc3339.ts';
import { Fleet } from '../snapshot/fleet.ts';
import type { World } from '../snapshot/world.ts';
import type { Placement } from '../model/placement.ts';
import type { CompileCel } from './cel-hook.ts';
import { compileCel } from './cel-hook.ts';
import type { DecidedState } from './decide-placement.ts';
import { decidePlacement } from './decide-placement.ts';
import { DecisionBook } from './decision-book.ts';
import { Eligibility } from './eligibility.ts';
import type { ScheduleResult } from './schedule-result.ts';
import type { CompiledPlacement } from './scheduling-index.ts';
import { SchedulingIndex } from './scheduling-index.ts';
import { PlacementTrace } from './trace.ts';

export interface EngineOptions {
  /** Default: the CEL of core/cel. */
  readonly compileCel?: CompileCel | undefined;
}

/**
 * Decides placements over an indexed world. Clusters are numbers; sets, selectors and tolerations are bitsets that
 * placements with equal texts share; a decision is a few operations on them, a score per feasible cluster and a
 * selection of the best. What was decided stays as bits and numbers and becomes text when somebody asks (`trace`).
 *
 * Rejected: one filter call per placement and cluster, as schedulers do whose pods come one at a time. Placements are
 * few, clusters many and selectors repeat, so whole sets at a time cost a hundredth.
 */
export class PlacementEngine {
  readonly index: SchedulingIndex;
  readonly book: DecisionBook;
  readonly #compiled: CompiledPlacement[];
  readonly #states: (DecidedState | undefined)[];
  readonly #positionOf = new Map<string, number>();

  constructor(world: World, options: EngineOptions = {}) {
    const fleet = new Fleet(world.clusters, world.scores);
    const eligibility = new Eligibility(world.clusterSets, world.bindings, fleet);
    const now = parseNow(world.now);
    this.index = new SchedulingIndex(fleet, eligibility, {
      now,
      compileCel: options.compileCel ?? compileCel,
    });
    this.book = new DecisionBook(fleet, world.decisions);
    this.#compiled = world.placements.map((placement) => this.index.compile(placement));
    this.#states = this.#compiled.map(() => undefined);
    this.#compiled.forEach(({ key }, position) => this.#positionOf.set(key, position));
  }

  /** Schedules every placement in the listed order; each one's new decisions replace its old ones before the next. */
  scheduleAll(): readonly ScheduleResult[] {
    return this.#compiled.map((_, position) => this.#schedule(position).result);
  }

  /** Schedules in the listed order up to and including one placement; undefined when there is none of that key. */
  scheduleUntil(key: string): ScheduleResult | undefined {
    const last = this.#positionOf.get(key);
    if (last === undefined) return undefined;
    for (let position = 0; position <= last; position++) this.#schedule(position);
    return this.result(key);
  }

  /** The latest result per placement that was scheduled, in the listed order. */
  results(): readonly ScheduleResult[] {
    return this.#states.flatMap((state) => (state === undefined ? [] : [state.result]));
  }

  /** @param key `namespace/name` */
  result(key: string): ScheduleResult | undefined {
    return this.#stateOf(key)?.result;
  }

  /** Why: answers for one placement, read from what was decided. Valid until the engine is next changed. */
  trace(key: string): PlacementTrace | undefined {
    const state = this.#stateOf(key);
    return state === undefined ? undefined : new PlacementTrace(this.index, state, this.book);
  }

  /** The trace of the placement listed at a position; for worlds in which a key is listed twice. */
  traceAt(position: number): PlacementTrace | undefined {
    const state = this.#states[position];
    return state === undefined ? undefined : new PlacementTrace(this.index, state, this.book);
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
    const compiled = this.index.compile(placement, extraBindings);
    const last = this.#stateOf(compiled.key);
    const own = this.book.take(compiled.key);
    const { counts, most } = this.book;
    const kept = last !== undefined && last.kept.size > 0 ? last.kept : undefined;
    const state = decidePlacement(this.index, compiled, { prior: last?.prior ?? own, counts, most, kept });
    this.book.put(compiled.key, own);
    return { result: state.result, trace: new PlacementTrace(this.index, state, this.book) };
  }

  #schedule(position: number): DecidedState {
    const compiled = this.#compiled[position] as CompiledPlacement;
    const prior = this.book.take(compiled.key);
    const { counts, most } = this.book;
    const state = decidePlacement(this.index, compiled, { prior, counts, most });
    this.book.put(compiled.key, state.recorded);
    this.#states[position] = state;
    return state;
  }

  #stateOf(key: string): DecidedState | undefined {
    const position = this.#positionOf.get(key);
    return position === undefined ? undefined : this.#states[position];
  }
}

export function parseNow(text: string): Instant {
  const now = parseRfc3339(text);
  if (now === undefined)
    throw new InputError(`got ${JSON.stringify(text)}, expected an RFC 3339 time like 2026-03-01T12:00:00Z`, {
      code: 'world.now',
      subject: 'now',
    });
  return now;
}
