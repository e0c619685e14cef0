import type { Clock } from '@berth/runtime/clock/clock';

/** Timers do not count the time while a machine sleeps, so the clock is checked at this interval. */
const CHECK_INTERVAL_MS = 300_000;

/** When each key is due, with one timer for all of them. */
export class DueTimes {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #dueAtMs = new Map<string, number>();
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Replaces the time of a key. Undefined or Infinity: it is not due at any time. */
  set(key: string, dueAtMs: number | undefined): void {
    if (dueAtMs === undefined || dueAtMs === Infinity) this.#dueAtMs.delete(key);
    else {
      this.#dueAtMs.set(key, dueAtMs);
      this.#wakeAt(dueAtMs);
    }
  }

  close(): void {
    this.#dueAtMs.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** A timer that is earlier stays: it looks for the next time again. */
  #wakeAt(dueAtMs: number): void {
    const nowMs = this.#clock.now();
    const atMs = Math.min(dueAtMs, nowMs + CHECK_INTERVAL_MS);
    if (this.#timer !== undefined && this.#timer.atMs <= atMs) return;
    this.#timer?.cancel();
    const cancel = this.#clock.schedule(Math.max(0, atMs - nowMs), () => this.#wake());
    this.#timer = { atMs, cancel };
  }

  #wake(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.now();
    let nextMs = Infinity;
    for (const [key, dueAtMs] of this.#dueAtMs) {
      if (dueAtMs > nowMs) nextMs = Math.min(nextMs, dueAtMs);
      else {
        this.#dueAtMs.delete(key);
        this.#onDue(key);
      }
    }
    if (nextMs !== Infinity) this.#wakeAt(nextMs);
  }
}
