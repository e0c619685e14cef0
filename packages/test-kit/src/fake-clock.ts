import type { SleepingClock } from '@berth/runtime/clock/clock';

interface Timer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly callback: () => void;
}

/** More timers than this without a moment between them are a loop that never pauses: the test would not end. */
const MAX_TIMERS_AT_ONCE = 10_000;

/**
 * Time moves only through `advance`. `jump` moves the wall clock alone, as an operator or NTP does. While the machine sleeps, the
 * monotonic time stands still.
 */
export class FakeClock implements SleepingClock {
  #monotonicMs = 0;
  #offsetMs: number;
  #sleptMs = 0;
  #sequence = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = Date.parse('2026-01-01T00:00:00Z')) {
    this.#offsetMs = startMs;
  }

  now(): number {
    return this.#offsetMs + this.#monotonicMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  sinceBootMs(): number {
    return this.#monotonicMs + this.#sleptMs;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#monotonicMs + Math.max(0, delayMs), sequence: this.#sequence++, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  sleep(forMs: number): void {
    this.#sleptMs += forMs;
    this.jump(forMs);
  }

  jump(byMs: number): void {
    this.#offsetMs += byMs;
  }

  /**
   * Fires due timers in order; lets promises settle between them.
   * @throws Error when timers keep being set without a delay
   */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#monotonicMs + byMs;
    for (let atOnce = 1; ; atOnce++) {
      await settle();
      const next = this.#nextDue(untilMs);
      if (next === undefined) break;
      if (next.dueMs > this.#monotonicMs) atOnce = 1;
      if (atOnce > MAX_TIMERS_AT_ONCE)
        throw new Error(`${atOnce} timers fired at one moment: something repeats itself without a pause`);
      this.#timers.delete(next);
      this.#monotonicMs = Math.max(this.#monotonicMs, next.dueMs);
      next.callback();
    }
    this.#monotonicMs = untilMs;
    await settle();
  }

  #nextDue(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > untilMs) continue;
      if (
        next === undefined ||
        timer.dueMs < next.dueMs ||
        (timer.dueMs === next.dueMs && timer.sequence < next.sequence)
      )
        next = timer;
    }
    return next;
  }
}

/** Lets everything that waits on resolved promises run. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
