import type { Clock } from '../../core/ports.ts';

const SECOND_MS = 1_000;

/** What is looked at once a second until it is removed. */
export interface Ticked {
  /** @param seconds the counter of the ticks, for the age of what began at an earlier count */
  tick(seconds: number): void;
}

/**
 * One timer for thousands of deadlines: what has one is asked once a second whether it is over. Age is counted in ticks and not
 * read from the clock, so a wall clock that jumps ends nothing early. A timer for each deadline was rejected: every
 * request has one, and almost none is ever reached.
 */
export class SecondTicks {
  readonly #clock: Clock;
  readonly #entries = new Set<Ticked>();
  #seconds = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ticks so far. */
  get seconds(): number {
    return this.#seconds;
  }

  add(entry: Ticked): void {
    this.#entries.add(entry);
    if (this.#cancel === undefined) this.#arm();
  }

  delete(entry: Ticked): void {
    this.#entries.delete(entry);
  }

  stop(): void {
    this.#entries.clear();
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    this.#cancel = this.#clock.schedule(SECOND_MS, () => {
      this.#cancel = undefined;
      this.#seconds += 1;
      for (const entry of this.#entries) entry.tick(this.#seconds);
      if (this.#entries.size > 0 && this.#cancel === undefined) this.#arm();
    });
  }
}
