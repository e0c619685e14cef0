import { namespacedName } from '../../core/model/object-ref.ts';
import type { ScheduleResult } from '../../core/placement/schedule-result.ts';
import type { Clock } from '../../core/ports.ts';
import type { World } from '../../core/snapshot/world.ts';
import { jsonEqual } from '../../core/model/json-equal.ts';
import { sleep } from '../../runtime/sleep.ts';
import { WakeUp } from '../../runtime/wake-up.ts';

export interface SchedulingOptions {
  readonly clock: Clock;
  /** Everything, with these placements (`namespace/name`) listed before the others. */
  readonly world: (first: ReadonlySet<string>) => World;
  /** One result per placement, each computed when it is asked for; not all of them may be asked for. */
  readonly schedule: (world: World) => Iterable<ScheduleResult>;
  /** Told of every result, before anything else happens to it. */
  readonly onEach: (world: World, result: ScheduleResult) => void;
  /** Resolves when nothing is being published. */
  readonly whenPublished: () => Promise<void>;
  readonly onResult: (decision: FreshDecision) => void;
  /** A commit is on its way to the hub; what it changes is then decided first. Default: never. */
  readonly isFollowing?: () => boolean;
  /** Placements to be looked at by the publisher. */
  readonly enqueue: (key: string) => void;
  /** Called after each pass over all placements with how long it took. */
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
const SLICE_MS = 5;
/** The same for the very first pass, without which there is nothing to serve. */
const FIRST_SLICE_MS = 10;
/** What is left of a pass waits for a commit that is on its way to the hub, but not longer than this. */
const MAX_FOLLOW_WAIT_MS = 200;
/** While changes never pause, a pass waits for them twice as long as the last one took, but not longer than this. */
const MAX_COALESCE_MS = 1_000;
/** Published decisions feed the next pass; while more are being written it waits, but not longer than this. */
const MAX_PUBLISH_WAIT_MS = 2_000;
/** Placements that were changed are published before the others are decided, but these do not wait longer than this. */
const MAX_FIRST_WAIT_MS = 200;
/** More changed placements than these are decided in their places among the others. */
const MAX_FIRST = 64;
/**
 * So often, and so long in any case, newer changes break off one pass after the other; then one is made to its end, so that no placement
 * waits for ever.
 */
const MAX_BROKEN_OFF = 8;
const MAX_BROKEN_OFF_MS = 5_000;

/**
 * Recomputes all placements whenever something changed that a decision may depend on. A pass over many placements takes turns with
 * the rest of the process, and what it has decided is published while it goes on. Placements that were changed themselves come
 * first; when another one changes, the pass is broken off and the next one begins with that.
 */
export class SchedulingLoop {
  readonly #options: SchedulingOptions;
  readonly #results = new Map<string, ScheduleResult>();
  readonly #touched = new Set<string>();
  #dirty: 'no' | 'decisions' | 'yes' = 'yes';
  readonly #wakeUp = new WakeUp();
  /** Aborted by a placement that changed since the last pass began, and when the loop ends. */
  #newer = new AbortController();
  /** Aborted by one that changed a while after the last one did: there is nothing to wait for. And when the loop ends. */
  #atOnce = new AbortController();
  #newerAtMs = -Infinity;
  /** Passes since the last whole one, and when the first of them began. */
  #brokenOff = { passes: 0, sinceMs: 0 };
  /** So long this pass may still wait. */
  #followWaitMs = MAX_FOLLOW_WAIT_MS;
  #cancelTimer: () => void = () => undefined;
  #passes = 0;
  #requests = 0;
  /** The last pass over all placements. */
  #tookMs = 0;

  constructor(options: SchedulingOptions) {
    this.#options = options;
  }

  /** Those over all placements; one that was broken off does not count. */
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
    if (cause === 'inputs' && touched !== undefined) this.#placementChanged();
    this.#wakeUp.call();
  }

  async run(signal: AbortSignal): Promise<void> {
    // By hand: what AbortSignal.any makes stays with a signal for as long as that lives, and this one lives as long as the process.
    const stop = (): void => [this.#newer, this.#atOnce].forEach((waited) => waited.abort());
    signal.addEventListener('abort', stop, { once: true });
    await this.#loop(signal).finally(() => signal.removeEventListener('abort', stop));
    this.#cancelTimer();
  }

  async #loop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#dirty === 'no') {
        await this.#wakeUp.wait(signal);
        continue;
      }
      await this.#pause();
      if (this.#dirty === 'decisions') await this.#untilPublished(MAX_PUBLISH_WAIT_MS);
      if (signal.aborted) break;
      const touched = new Set(this.#touched);
      this.#touched.clear();
      await this.#pass(touched, signal).catch((error: unknown) => {
        // Not done: whoever runs this loop again begins with it.
        this.#askAgain(touched);
        throw error;
      });
    }
  }

  #placementChanged(): void {
    const nowMs = this.#options.clock.now();
    if (Math.abs(nowMs - this.#newerAtMs) >= COALESCE_MS) this.#atOnce.abort();
    this.#newerAtMs = nowMs;
    // Each call makes an error with its stack, also where nothing is left to abort: that adds up over a list of thousands.
    if (!this.#newer.signal.aborted) this.#newer.abort();
  }

  /** Until no changes came for a while. */
  async #pause(): Promise<void> {
    const { clock } = this.#options;
    const atMostMs = Math.min(MAX_COALESCE_MS, Math.max(COALESCE_MS, 2 * this.#tookMs));
    const { signal: over } = this.#atOnce;
    for (let waitedMs = 0; waitedMs < atMostMs && !over.aborted; waitedMs += COALESCE_MS) {
      const seen = this.#requests;
      await sleep(clock, COALESCE_MS, over);
      if (this.#requests === seen) return;
    }
  }

  /** Or until a placement changed. */
  async #untilPublished(atMostMs: number): Promise<void> {
    const { clock, whenPublished } = this.#options;
    await Promise.race([whenPublished(), sleep(clock, atMostMs, this.#newer.signal)]);
  }

  async #letOthersIn(signal: AbortSignal): Promise<void> {
    const { clock, isFollowing = () => false } = this.#options;
    const { signal: over } = this.#newer;
    await sleep(clock, 0, signal);
    if (this.#passes === 0) return;
    for (; isFollowing() && this.#followWaitMs > 0 && !over.aborted; this.#followWaitMs -= SLICE_MS)
      await sleep(clock, SLICE_MS, over);
  }

  async #pass(touched: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { clock, schedule, enqueue } = this.#options;
    this.#dirty = 'no';
    this.#followWaitMs = MAX_FOLLOW_WAIT_MS;
    this.#newer = new AbortController();
    this.#atOnce = new AbortController();
    const startedAtMs = clock.now();
    const first: ReadonlySet<string> = touched.size > MAX_FIRST ? new Set() : touched;
    const world = this.#options.world(first);
    const othersFrom = world.placements.findIndex(({ metadata }) => !first.has(namespacedName(metadata)));
    const seen = new Map<string, ScheduleResult>();
    const sliceMs = this.#passes === 0 ? FIRST_SLICE_MS : SLICE_MS;
    let sliceEndsAtMs = startedAtMs + sliceMs;
    for (const result of schedule(world)) {
      const key = namespacedName(result.placement.metadata);
      seen.set(key, result);
      if (this.#takeResult(key, result, world) || touched.has(key)) enqueue(key);
      if (seen.size === othersFrom) await this.#untilPublished(MAX_FIRST_WAIT_MS);
      else if (clock.now() >= sliceEndsAtMs) await this.#letOthersIn(signal);
      else continue;
      if (signal.aborted) return;
      if (this.#newer.signal.aborted && this.#mayBreakOff(startedAtMs)) {
        return this.#askAgain(new Set([...touched].filter((one) => !seen.has(one))));
      }
      sliceEndsAtMs = clock.now() + sliceMs;
    }
    this.#brokenOff = { passes: 0, sinceMs: 0 };
    for (const key of touched) if (!seen.has(key)) enqueue(key);
    this.#complete(seen, clock.now() - startedAtMs);
  }

  #mayBreakOff(startedAtMs: number): boolean {
    const { passes, sinceMs } = this.#brokenOff;
    const isLong = passes > 0 && Math.abs(this.#options.clock.now() - sinceMs) >= MAX_BROKEN_OFF_MS;
    if (passes >= MAX_BROKEN_OFF && isLong) return false;
    this.#brokenOff = { passes: passes + 1, sinceMs: passes === 0 ? startedAtMs : sinceMs };
    return true;
  }

  #askAgain(touched: ReadonlySet<string>): void {
    for (const key of touched) this.#touched.add(key);
    this.#dirty = 'yes';
  }

  #complete(results: ReadonlyMap<string, ScheduleResult>, tookMs: number): void {
    for (const key of this.#results.keys()) if (!results.has(key)) this.#results.delete(key);
    this.#tookMs = tookMs;
    this.#passes += 1;
    this.#options.onPass?.(tookMs);
    let againAtMs = Infinity;
    for (const { requeueAtMs = Infinity } of results.values()) againAtMs = Math.min(againAtMs, requeueAtMs);
    this.#arm(againAtMs);
    // The first pass does what has to be done; in the second one, when that is published, the engine gets ready for changes.
    if (this.#passes === 1) this.request('decisions');
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
