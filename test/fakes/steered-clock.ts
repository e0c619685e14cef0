import type { SleepingClock } from '@berth/runtime/clock/clock';

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
  handle?: NodeJS.Timeout;
}

/**
 * Real time that a test stops, or moves on by hours: for software that runs with real programs and files, and whose own waits are not to
 * pass before the test has looked, however slow the machine is.
 */
export class SteeredClock implements SleepingClock {
  #offsetMs = 0;
  #stoppedAtMs: number | undefined;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#stoppedAtMs ?? Date.now() + this.#offsetMs;
  }

  monotonicMs(): number {
    return this.now();
  }

  sinceBootMs(): number {
    return this.now();
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { dueMs: this.now() + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      clearTimeout(timer.handle);
      this.#timers.delete(timer);
    };
  }

  /** No timer fires until `go`. */
  stop(): void {
    this.#stoppedAtMs = this.now();
    for (const { handle } of this.#timers) clearTimeout(handle);
  }

  go(): void {
    this.#offsetMs = this.now() - Date.now();
    this.#stoppedAtMs = undefined;
    this.skip(0);
  }

  /** So much time has passed at once. */
  skip(ms: number): void {
    this.#offsetMs += ms;
    for (const timer of this.#timers) this.#arm(timer);
  }

  #arm(timer: Timer): void {
    clearTimeout(timer.handle);
    if (this.#stoppedAtMs !== undefined) return;
    const waitMs = Math.max(0, timer.dueMs - this.now());
    timer.handle = setTimeout(
      () => {
        if (this.now() < timer.dueMs) return this.#arm(timer);
        this.#timers.delete(timer);
        timer.callback();
      },
      Math.min(waitMs, LONGEST_TIMER_MS),
    );
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
