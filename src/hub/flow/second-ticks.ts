import type { Clock } from '../../core/ports.ts';

const SECOND_MS = 1_000;

/**
 * An entry that is checked once a second until it is removed. It is itself the node of a linked list: each request is
 * in one for a moment, and a Set would allocate for each of them.
 */
export abstract class Ticked {
  before: Ticked | undefined;
  after: Ticked | undefined;

  /** @param seconds the counter of the ticks, for the age of what began at an earlier count */
  abstract tick(seconds: number): void;
}

class ListEnd extends Ticked {
  tick(): void {
    // Only its place in the list matters.
  }
}

/**
 * One timer for thousands of deadlines: each entry is checked once a second. Age is counted in ticks and not read
 * from the clock, so a wall clock that jumps ends nothing early. A timer for each deadline was rejected: every
 * request has one, and almost none is ever reached.
 */
export class SecondTicks {
  readonly #clock: Clock;
  readonly #head = new ListEnd();
  #seconds = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ticks so far. */
  get seconds(): number {
    return this.#seconds;
  }

  /** An entry that is there already stays where it is. */
  add(entry: Ticked): void {
    if (entry.before !== undefined) return;
    const head = this.#head;
    entry.before = head;
    entry.after = head.after;
    if (head.after !== undefined) head.after.before = entry;
    head.after = entry;
    if (this.#cancel === undefined) this.#arm();
  }

  delete(entry: Ticked): void {
    if (entry.before === undefined) return;
    entry.before.after = entry.after;
    if (entry.after !== undefined) entry.after.before = entry.before;
    entry.before = undefined;
    entry.after = undefined;
  }

  stop(): void {
    this.#head.after = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    this.#cancel = this.#clock.schedule(SECOND_MS, () => {
      this.#cancel = undefined;
      this.#seconds += 1;
      // One that was removed by an entry before it is not asked any more.
      for (const entry of this.#entries()) if (entry.before !== undefined) entry.tick(this.#seconds);
      if (this.#head.after !== undefined && this.#cancel === undefined) this.#arm();
    });
  }

  /** As they are now: entries come and go while others are asked. */
  #entries(): readonly Ticked[] {
    const entries: Ticked[] = [];
    for (let entry = this.#head.after; entry !== undefined; entry = entry.after) entries.push(entry);
    return entries;
  }
}
