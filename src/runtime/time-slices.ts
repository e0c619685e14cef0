import type { Clock } from '../core/ports.ts';

/** A long computation in parts, each short enough for the rest of the process to wait for. */
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
