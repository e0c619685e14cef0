import { toleratedUntilMs } from '@berth/placement/filter/toleration-class';
import { startEngine } from '@berth/placement/incremental-scheduler';
import { NextScoreExpiry } from '@berth/placement/prioritize/score-expiry';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { Clock } from '@berth/runtime/clock/clock';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { sleep, TimeSlices, WakeUp } from '@berth/runtime/loop/sleep';
import type { Transition } from '../../core/transition/transition.ts';
import { warmUpTransitions } from '../../core/transition/warm-up-transitions.ts';

export interface SchedulingOptions {
  readonly clock: Clock;
  /** The current snapshot of all inputs of decisions. */
  readonly snapshot: () => Snapshot | Promise<Snapshot>;
  /** Computes a transition from a snapshot; yields after each decided placement. */
  readonly transition: (snapshot: Snapshot) => Generator<void, Transition>;
  /** Receives every result of a transition before it is used. */
  readonly onEach: (decided: DecidedResult) => void;
  /** Awaited before the results of a transition, which started from `start`, go to the publisher. */
  readonly beforePublishing?: (transition: Transition, start: Snapshot) => Promise<void>;
  /** Resolves when no publication is pending and the snapshot shows all published decisions. */
  readonly whenPublished: () => Promise<void>;
  readonly onResult: (decision: ChangedDecision) => void;
  /**
   * Whether a commit is being applied to the hub; its changes are then decided first. Default:
   * never.
   */
  readonly isFollowing?: () => boolean;
  /** Enqueues a placement (`namespace/name`) for the publisher. */
  readonly enqueue: (key: string) => void;
  /** Called after each transition with its duration. */
  readonly onCycle?: (tookMs: number) => void;
  /** Called when placements are found whose decisions keep changing each other. */
  readonly onUnstable?: (keys: readonly string[]) => void;
}

/** A result, the snapshot that it was decided in, and the snapshot at the start of its transition. */
export interface DecidedResult {
  readonly result: ScheduleResult;
  readonly snapshot: Snapshot;
  readonly start: Snapshot;
}

/** A result that differs from the previous one, and its inputs. */
export interface ChangedDecision {
  readonly key: string;
  readonly result: ScheduleResult;
  readonly before: ScheduleResult | undefined;
  readonly snapshot: Snapshot;
}

/** Changes that arrive together are decided together: a cycle starts after this time without changes. */
const COALESCE_MS = 20;
/** A cycle yields to other tasks after this time. */
const SLICE_MS = 5;
/** The same for the first cycle, before which Berth serves nothing. */
const FIRST_SLICE_MS = 10;
/** The rest of a cycle waits at most this long for a commit that is being applied to the hub. */
const MAX_FOLLOW_WAIT_MS = 200;
/** If changes never pause, a cycle waits twice as long as the last one took, but no longer than this. */
const MAX_COALESCE_MS = 1_000;
/** A transition waits at most this long for publications that are being written. */
const MAX_PUBLISH_WAIT_MS = 2_000;
/**
 * Newer changes may interrupt cycles until both limits are reached: this number of interruptions, and the time below.
 * Then one cycle is completed, so that no placement waits forever.
 */
const MAX_INTERRUPTED_CYCLES = 8;
const MAX_INTERRUPTED_MS = 5_000;

/**
 * Computes a transition whenever an input of decisions changed. No decision is published before the
 * transition ends, because decisions depend on each other, and an early result may change until the
 * end. A transition over many placements yields to the rest of the process; when a placement
 * changes meanwhile, it is interrupted and restarted.
 */
export class SchedulingLoop {
  readonly #options: SchedulingOptions;
  readonly #results = new Map<string, ScheduleResult>();
  readonly #touched = new Set<string>();
  #dirty: 'no' | 'decisions' | 'yes' = 'yes';
  readonly #wakeUp = new WakeUp();
  /** Aborted when a placement changes during the cycle, and when the loop ends. */
  #newer = new AbortController();
  /**
   * Aborted when a placement changes after a pause in changes, so that there is nothing to wait for, and when the loop
   * ends.
   */
  #atOnce = new AbortController();
  /** Aborted when the loop ends. */
  readonly #ended = new AbortController();
  #newerAtMs = -Infinity;
  /** The number of interrupted cycles since the last completed one, and when the first of them started. */
  #interrupted = { cycles: 0, sinceMs: 0 };
  /** How long this cycle may still wait. */
  #followWaitMs = MAX_FOLLOW_WAIT_MS;
  /** No event reports the expiry of a toleration or a score, so this timer does. */
  readonly #expiry: WallClockTimer;
  readonly #nextScoreEnd = new NextScoreExpiry();
  #cycles = 0;
  #isInCycle = false;
  #requests = 0;
  /** How long the last completed transition took. */
  #tookMs = 0;
  #unstable: readonly string[] = [];

  /** Placements whose decisions kept changing each other in the last transition. */
  get unstable(): readonly string[] {
    return this.#unstable;
  }

  constructor(options: SchedulingOptions) {
    this.#options = options;
    this.#expiry = new WallClockTimer(options.clock, () => this.request('inputs'));
  }

  /** Completed full cycles. */
  get cycles(): number {
    return this.#cycles;
  }

  /** Whether a transition is being computed, or due. */
  get isDeciding(): boolean {
    return this.#dirty !== 'no' || this.#isInCycle;
  }

  resultOf(key: string): ScheduleResult | undefined {
    return this.#results.get(key);
  }

  results(): ReadonlyMap<string, ScheduleResult> {
    return this.#results;
  }

  /** `touched`: a placement to publish again even if its result stays the same. */
  request(cause: 'decisions' | 'inputs', touched?: string): void {
    if (touched !== undefined) this.#touched.add(touched);
    if (cause === 'inputs' || this.#dirty === 'no') this.#dirty = cause === 'inputs' ? 'yes' : 'decisions';
    this.#requests += 1;
    if (cause === 'inputs' && touched !== undefined) this.#placementChanged();
    this.#wakeUp.call();
  }

  async run(signal: AbortSignal): Promise<void> {
    // Not AbortSignal.any: its results are referenced by the source signal until that is collected,
    // and this signal lives as long as the process.
    const stop = (): void => [this.#newer, this.#atOnce, this.#ended].forEach((waited) => waited.abort());
    signal.addEventListener('abort', stop, { once: true });
    await this.#loop(signal).finally(() => signal.removeEventListener('abort', stop));
    this.#expiry.cancel();
  }

  async #loop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#dirty === 'no') {
        await this.#wakeUp.wait(signal);
        continue;
      }
      await this.#pause();
      if (this.#cycles > 0) await this.#untilPublished(signal);
      if (signal.aborted) break;
      const touched = new Set(this.#touched);
      if (this.#dirty === 'decisions' && touched.size === 0 && this.#unstable.length > 0) {
        // These placements would keep changing each other.
        this.#dirty = 'no';
        continue;
      }
      this.#touched.clear();
      await this.#cycle(touched, signal).catch((error: unknown) => {
        // The cycle failed. The next run of this loop starts with it.
        this.#requestAgain(touched);
        throw error;
      });
    }
  }

  #placementChanged(): void {
    const nowMs = this.#options.clock.now();
    if (Math.abs(nowMs - this.#newerAtMs) >= COALESCE_MS) this.#atOnce.abort();
    this.#newerAtMs = nowMs;
    // Each call creates an error with a stack, even if nothing is left to abort, which is expensive
    // for thousands of calls.
    if (!this.#newer.signal.aborted) this.#newer.abort();
  }

  /** Waits until there are no changes for a while. */
  async #pause(): Promise<void> {
    const { clock } = this.#options;
    const { cycles, sinceMs } = this.#interrupted;
    // Repeatedly interrupted transitions are wasted work, so the wait grows with each one.
    const isStorm = cycles > 1;
    const stormMs = isStorm ? Math.abs(clock.now() - sinceMs) : 0;
    const atMostMs = Math.min(MAX_COALESCE_MS, Math.max(COALESCE_MS, 2 * this.#tookMs, stormMs));
    const quietMs = Math.max(COALESCE_MS, atMostMs / 10);
    const { signal: over } = isStorm ? this.#ended : this.#atOnce;
    for (let waitedMs = 0; waitedMs < atMostMs && !over.aborted; waitedMs += quietMs) {
      const seen = this.#requests;
      await sleep(clock, quietMs, over);
      if (this.#requests === seen) return;
    }
  }

  async #untilPublished(signal: AbortSignal): Promise<void> {
    const { clock, whenPublished } = this.#options;
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end, { once: true });
    await Promise.race([whenPublished(), sleep(clock, MAX_PUBLISH_WAIT_MS, over.signal)]).finally(() => {
      end();
      signal.removeEventListener('abort', end);
    });
  }

  async #yieldToOthers(signal: AbortSignal): Promise<void> {
    const { clock, isFollowing = () => false } = this.#options;
    const { signal: over } = this.#newer;
    await sleep(clock, 0, signal);
    if (this.#cycles === 0) return;
    for (; isFollowing() && this.#followWaitMs > 0 && !over.aborted; this.#followWaitMs -= SLICE_MS)
      await sleep(clock, SLICE_MS, over);
  }

  async #cycle(touched: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { clock, snapshot } = this.#options;
    this.#dirty = 'no';
    this.#isInCycle = true;
    this.#followWaitMs = MAX_FOLLOW_WAIT_MS;
    this.#newer = new AbortController();
    this.#atOnce = new AbortController();
    const startedAtMs = clock.now();
    let steps: ReturnType<SchedulingOptions['transition']> | undefined;
    try {
      const start = await snapshot();
      steps = this.#options.transition(start);
      const slices = new TimeSlices(clock, this.#cycles === 0 ? FIRST_SLICE_MS : SLICE_MS);
      for (;;) {
        const step = steps.next();
        if (step.done === true)
          return await this.#finish(step.value, { start, startedAtMs, touched, slices, signal });
        if (!slices.isOver()) continue;
        await this.#yieldToOthers(signal);
        if (signal.aborted) return;
        if (this.#newer.signal.aborted && this.#mayInterrupt(startedAtMs)) return this.#requestAgain(touched);
        slices.begin();
      }
    } finally {
      this.#isInCycle = false;
      steps?.return?.(undefined as never);
    }
  }

  async #finish(
    transition: Transition,
    cycle: {
      readonly start: Snapshot;
      readonly startedAtMs: number;
      readonly touched: ReadonlySet<string>;
      readonly slices: TimeSlices;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const { enqueue, clock, beforePublishing } = this.#options;
    const { results, snapshot, decidedIn, unstable } = transition;
    const { start, touched, slices, signal } = cycle;
    this.#interrupted = { cycles: 0, sinceMs: 0 };
    await beforePublishing?.(transition, start);
    for (const [key, result] of results) {
      const decided = { result, snapshot: decidedIn.get(key) ?? snapshot, start };
      if (this.#takeResult(key, decided) || touched.has(key)) enqueue(key);
      if (!slices.isOver()) continue;
      await sleep(clock, 0, signal);
      if (signal.aborted) return;
      slices.begin();
    }
    for (const key of touched) if (!results.has(key)) enqueue(key);
    this.#noteUnstable(unstable);
    this.#complete(results, start, clock.now() - cycle.startedAtMs);
  }

  #noteUnstable(keys: readonly string[]): void {
    if (keys.length > 0 && keys.join() !== this.#unstable.join()) this.#options.onUnstable?.(keys);
    this.#unstable = keys;
  }

  #mayInterrupt(startedAtMs: number): boolean {
    const { cycles, sinceMs } = this.#interrupted;
    const isLong = cycles > 0 && Math.abs(this.#options.clock.now() - sinceMs) >= MAX_INTERRUPTED_MS;
    if (cycles >= MAX_INTERRUPTED_CYCLES && isLong) return false;
    this.#interrupted = { cycles: cycles + 1, sinceMs: cycles === 0 ? startedAtMs : sinceMs };
    return true;
  }

  #requestAgain(touched: ReadonlySet<string>): void {
    for (const key of touched) this.#touched.add(key);
    this.#dirty = 'yes';
  }

  #complete(results: ReadonlyMap<string, ScheduleResult>, start: Snapshot, tookMs: number): void {
    for (const key of this.#results.keys()) if (!results.has(key)) this.#results.delete(key);
    this.#tookMs = tookMs;
    this.#cycles += 1;
    this.#isInCycle = false;
    this.#options.onCycle?.(tookMs);
    let againAtMs = this.#nextScoreEnd.after(start) ?? Infinity;
    for (const result of results.values()) againAtMs = Math.min(againAtMs, toleratedUntilMs(result, start));
    this.#expiry.arm(againAtMs);
    // The first cycle makes the decisions; the second one, after they are published, prepares the
    // engine for incremental changes.
    if (this.#cycles === 1) this.request('decisions');
  }

  /** @returns whether the publisher would now write something else */
  #takeResult(key: string, decided: DecidedResult): boolean {
    const { onEach, onResult } = this.#options;
    onEach(decided);
    const { result, snapshot } = decided;
    const before = this.#results.get(key);
    this.#results.set(key, result);
    if (before === result || (before !== undefined && sameResult(before, result))) return false;
    onResult({ key, result, before, snapshot });
    return true;
  }
}

/** Whether the publisher would write the same for both. */
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

/**
 * Maximum interval of checking the time, because timers do not notice that the clock was set or
 * that the machine slept.
 */
const CHECK_MS = 15_000;

/**
 * Minimum delay of a report, so that a caller which sets the same time again does not loop without
 * a pause.
 */
const SOON_MS = 100;

/** Calls back when the wall clock reaches a moment, also if the clock jumps there. */
export class WallClockTimer {
  readonly #clock: Clock;
  readonly #onMoment: () => void;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, onMoment: () => void) {
    this.#clock = clock;
    this.#onMoment = onMoment;
  }

  /**
   * Replaces the moment.
   * @param atMs milliseconds since the epoch; Infinity: never
   */
  arm(atMs: number): void {
    this.#cancel();
    if (atMs === Infinity) return;
    this.#wait(atMs, Math.max(SOON_MS, atMs - this.#clock.now()));
  }

  cancel(): void {
    this.#cancel();
  }

  #wait(atMs: number, waitMs: number): void {
    this.#cancel = this.#clock.schedule(Math.min(CHECK_MS, waitMs), () => {
      const leftMs = atMs - this.#clock.now();
      if (leftMs > 0) this.#wait(atMs, leftMs);
      else this.#onMoment();
    });
  }
}

/** Clusters times placements. In a smaller fleet, warming up takes longer than the first change. */
const WORTH_WARMING = 100_000;

/**
 * Runs the engine so that its code is compiled before the first change, which otherwise took four
 * times as long as later ones with 1,000 clusters. It yields to the rest of the process.
 */
export async function warmEngine(snapshot: Snapshot, clock: Clock, signal: AbortSignal): Promise<void> {
  if (snapshot.clusters.length * snapshot.placements.length < WORTH_WARMING) return;
  const slices = new TimeSlices(clock, SLICE_MS);
  for (const _ of warmUpTransitions(startEngine())) {
    if (!slices.isOver()) continue;
    await sleep(clock, 0, signal);
    if (signal.aborted) return;
    slices.begin();
  }
}
