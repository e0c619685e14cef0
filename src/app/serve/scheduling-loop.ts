import { namespacedName } from '../../core/model/object-ref.ts';
import type { ScheduleResult } from '../../core/placement/schedule-result.ts';
import type { Clock } from '../../core/ports.ts';
import type { World } from '../../core/snapshot/world.ts';
import { jsonEqual } from '../../core/model/json-equal.ts';
import { sleep } from '../../runtime/sleep.ts';
import { WakeUp } from '../../runtime/wake-up.ts';

export interface SchedulingOptions {
  readonly clock: Clock;
  readonly world: () => World;
  /** One result per placement, each computed when it is asked for. */
  readonly schedule: (world: World) => Iterable<ScheduleResult>;
  /** Told of every result, before anything else happens to it. */
  readonly onEach: (world: World, result: ScheduleResult) => void;
  /** Resolves when nothing is being published. */
  readonly whenPublished: () => Promise<void>;
  readonly onResult: (decision: FreshDecision) => void;
  /** Placements to be looked at by the publisher. */
  readonly enqueue: (key: string) => void;
  /** Called after each pass with how long it took. */
  readonly onPass?: (tookMs: number) => void;
}

/** A result that differs from the one before, and what it was made from. */
export interface FreshDecision {
  readonly key: string;
  readonly result: ScheduleResult;
  readonly before: ScheduleResult | undefined;
  readonly world: World;
}

/** Changes that arrive together are decided together: a pass begins when none came for so long. */
const COALESCE_MS = 20;
/** So long a pass keeps the process to itself before it lets others in. */
const SLICE_MS = 10;
/** While changes never pause, a pass waits for them twice as long as the last one took, but not longer than this. */
const MAX_COALESCE_MS = 1_000;
/** Published decisions feed the next pass; while more are being written it waits, but not longer than this. */
const MAX_PUBLISH_WAIT_MS = 2_000;

/**
 * Recomputes all placements whenever something changed that a decision may depend on. A pass over many placements takes turns with
 * the rest of the process, and what it has decided is published while it goes on.
 */
export class SchedulingLoop {
  readonly #options: SchedulingOptions;
  readonly #results = new Map<string, ScheduleResult>();
  readonly #touched = new Set<string>();
  #dirty: 'no' | 'decisions' | 'yes' = 'yes';
  readonly #wakeUp = new WakeUp();
  #cancelTimer: () => void = () => undefined;
  #passes = 0;
  #requests = 0;
  /** The last pass. */
  #tookMs = 0;

  constructor(options: SchedulingOptions) {
    this.#options = options;
  }

  get passes(): number {
    return this.#passes;
  }

  resultOf(key: string): ScheduleResult | undefined {
    return this.#results.get(key);
  }

  results(): ReadonlyMap<string, ScheduleResult> {
    return this.#results;
  }

  /** `touched`: a placement to be published again even if its result stays the same. */
  request(cause: 'decisions' | 'inputs', touched?: string): void {
    if (touched !== undefined) this.#touched.add(touched);
    if (cause === 'inputs' || this.#dirty === 'no') this.#dirty = cause === 'inputs' ? 'yes' : 'decisions';
    this.#requests += 1;
    this.#wakeUp.call();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      if (this.#dirty === 'no') {
        await this.#wakeUp.wait(signal);
        continue;
      }
      await this.#pause(signal);
      if (this.#dirty === 'decisions')
        await Promise.race([this.#options.whenPublished(), sleep(clock, MAX_PUBLISH_WAIT_MS, signal)]);
      if (signal.aborted) break;
      const touched = new Set(this.#touched);
      this.#touched.clear();
      await this.#pass(touched, signal).catch((error: unknown) => {
        // Not done: whoever runs this loop again begins with it.
        for (const key of touched) this.#touched.add(key);
        this.#dirty = 'yes';
        throw error;
      });
    }
    this.#cancelTimer();
  }

  /** Until no changes came for a while. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const atMostMs = Math.min(MAX_COALESCE_MS, Math.max(COALESCE_MS, 2 * this.#tookMs));
    for (let waitedMs = 0; waitedMs < atMostMs && !signal.aborted; waitedMs += COALESCE_MS) {
      const seen = this.#requests;
      await sleep(clock, COALESCE_MS, signal);
      if (this.#requests === seen) return;
    }
  }

  async #pass(touched: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { clock, schedule, enqueue, onPass } = this.#options;
    this.#dirty = 'no';
    const startedAtMs = clock.now();
    const world = this.#options.world();
    const present = new Set<string>();
    let againAtMs = Infinity;
    let sliceEndsAtMs = startedAtMs + SLICE_MS;
    for (const result of schedule(world)) {
      const key = namespacedName(result.placement.metadata);
      present.add(key);
      againAtMs = Math.min(againAtMs, result.requeueAtMs ?? Infinity);
      if (this.#takeResult(key, result, world) || touched.has(key)) enqueue(key);
      if (clock.now() < sliceEndsAtMs) continue;
      await sleep(clock, 0, signal);
      if (signal.aborted) break;
      sliceEndsAtMs = clock.now() + SLICE_MS;
    }
    if (signal.aborted) return;
    this.#tookMs = clock.now() - startedAtMs;
    for (const key of this.#results.keys()) if (!present.has(key)) this.#results.delete(key);
    for (const key of touched) if (!present.has(key)) enqueue(key);
    this.#passes += 1;
    onPass?.(this.#tookMs);
    this.#arm(againAtMs);
  }

  /** @returns whether the publisher would write something else now */
  #takeResult(key: string, result: ScheduleResult, world: World): boolean {
    const { onEach, onResult } = this.#options;
    onEach(world, result);
    const before = this.#results.get(key);
    this.#results.set(key, result);
    if (before === result || (before !== undefined && sameResult(before, result))) return false;
    onResult({ key, result, before, world });
    return true;
  }

  /** A toleration that runs out is a change that nobody tells. */
  #arm(againAtMs: number): void {
    this.#cancelTimer();
    if (againAtMs === Infinity) return;
    const delayMs = againAtMs - this.#options.clock.now();
    this.#cancelTimer = this.#options.clock.schedule(Math.max(100, delayMs), () => this.request('inputs'));
  }
}

/** Would the publisher write the same? */
function sameResult(a: ScheduleResult, b: ScheduleResult): boolean {
  return (
    a.outcome === b.outcome &&
    a.placement.metadata.uid === b.placement.metadata.uid &&
    a.placement.metadata.generation === b.placement.metadata.generation &&
    jsonEqual(a.groups, b.groups) &&
    jsonEqual(a.conditions, b.conditions) &&
    (a.placement.spec?.sortBy !== 'Score' || jsonEqual(a.selectedScores, b.selectedScores))
  );
}
