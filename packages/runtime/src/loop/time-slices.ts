import type { Clock } from '../clock/clock.ts';

/** Splits a long computation into short slices, so that it does not block the event loop. */
export class TimeSlices {
  readonly #clock: Clock;
  readonly #lengthMs: number;
  #endsAtMs = 0;

  constructor(clock: Clock, lengthMs: number) {
    this.#clock = clock;
    this.#lengthMs = lengthMs;
    this.begin();
  }

  begin(): void {
    this.#endsAtMs = this.#clock.now() + this.#lengthMs;
  }

  isOver(): boolean {
    return this.#clock.now() >= this.#endsAtMs;
  }
}
