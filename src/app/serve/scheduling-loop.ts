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
  readonly schedule: (world: World) => readonly ScheduleResult[];
  /** Resolves when nothing is being published. */
  readonly whenPublished: () => Promise<void>;
  readonly onResult: (decision: FreshDecision) => void;
  /** Placements to be looked at by the publisher. */
  readonly enqueue: (key: string) => void;
  /** Called after each pass with how long the engine took. */
  readonly onPass?: (tookMs: number) => void;
}

/** A result that differs from the one before, and what it was made from. */
export interface FreshDecision {
  readonly key: string;
  readonly result: ScheduleResult;
  readonly before: ScheduleResult | undefined;
  readonly world: World;
}

/** Changes that arrive together are decided together. */
const COALESCE_MS = 20;
/** Published decisions feed the next pass; while more are being written it waits, but not longer than this. */
const MAX_PUBLISH_WAIT_MS = 2_000;

/** Recomputes all placements whenever something changed that a decision may depend on. */
export class SchedulingLoop {
  readonly #options: SchedulingOptions;
  readonly #results = new Map<string, ScheduleResult>();
  readonly #touched = new Set<string>();
  #dirty: 'no' | 'decisions' | 'yes' = 'yes';
  readonly #wakeUp = new WakeUp();
  #cancelTimer: () => void = () => undefined;
  #passes = 0;

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
    this.#wakeUp.call();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      if (this.#dirty === 'no') {
        await this.#wakeUp.wait(signal);
        continue;
      }
      await sleep(clock, COALESCE_MS, signal);
      if (this.#dirty === 'decisions')
        await Promise.race([this.#options.whenPublished(), sleep(clock, MAX_PUBLISH_WAIT_MS, signal)]);
      if (!signal.aborted) this.#pass();
    }
    this.#cancelTimer();
  }

  #pass(): void {
    const { clock, schedule, onResult, enqueue, onPass } = this.#options;
    this.#dirty = 'no';
    const startedAtMs = clock.now();
    const world = this.#options.world();
    const results = schedule(world);
    const changed = new Set(this.#touched);
    this.#touched.clear();
    const present = new Set<string>();
    for (const result of results) {
      const key = namespacedName(result.placement.metadata);
      present.add(key);
      const before = this.#results.get(key);
      this.#results.set(key, result);
      if (before === result || (before !== undefined && sameResult(before, result))) continue;
      changed.add(key);
      onResult({ key, result, before, world });
    }
    for (const key of [...this.#results.keys()]) if (!present.has(key)) this.#results.delete(key);
    for (const key of changed) enqueue(key);
    this.#passes += 1;
    onPass?.(clock.now() - startedAtMs);
    this.#arm(results);
  }

  /** A toleration that runs out is a change that nobody tells. */
  #arm(results: readonly ScheduleResult[]): void {
    this.#cancelTimer();
    const due = results.flatMap((result) => (result.requeueAtMs === undefined ? [] : [result.requeueAtMs]));
    if (due.length === 0) return;
    const delayMs = due.reduce((a, b) => Math.min(a, b)) - this.#options.clock.now();
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
