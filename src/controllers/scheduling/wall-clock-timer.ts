import type { Clock } from '@berth/runtime/clock/clock';

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
