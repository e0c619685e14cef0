import type { Clock } from '@berth/runtime/clock/clock';

const SECOND_MS = 1_000;

/**
 * An object whose `tick` is called once a second until it is removed. It is a node of a linked list
 * itself: every request adds an entry for a short time, and a Set would allocate memory for each of
 * them.
 */
export abstract class TickEntry {
  /** Neighbours in the list. `before` is undefined when the entry is in no list. */
  before: TickEntry | undefined;
  after: TickEntry | undefined;

  /** @param seconds number of ticks so far; its difference to an earlier `SecondTicks.seconds` is an age in seconds */
  abstract tick(seconds: number): void;
}

/** The head of the list. It is not an entry of its own, and is never ticked. */
class ListHead extends TickEntry {
  tick(): void {
    // The list of entries begins after the head.
  }
}

/**
 * One timer for the deadlines of all requests: it calls each entry once a second. Entries compute their age from the number
 * of ticks and not from the clock, so that a jump of the wall clock ends no request early. A timer for each deadline would
 * cost more: every request has a deadline, and almost no request reaches it.
 */
export class SecondTicks {
  readonly #clock: Clock;
  readonly #head = new ListHead();
  #seconds = 0;
  /** Cancels the timer of the next tick; undefined while no timer runs. */
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ticks so far. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Adds an entry at the front of the list. Does nothing when the entry is in the list already. */
  add(entry: TickEntry): void {
    if (entry.before !== undefined) return;
    const head = this.#head;
    entry.before = head;
    entry.after = head.after;
    if (head.after !== undefined) head.after.before = entry;
    head.after = entry;
    if (this.#cancel === undefined) this.#schedule();
  }

  /** Removes an entry. Does nothing when the entry is not in the list. */
  delete(entry: TickEntry): void {
    if (entry.before === undefined) return;
    entry.before.after = entry.after;
    if (entry.after !== undefined) entry.after.before = entry.before;
    entry.before = undefined;
    entry.after = undefined;
  }

  /** Removes all entries and cancels the timer. Entries may be added again afterwards. */
  stop(): void {
    for (const entry of this.#entries()) this.delete(entry);
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #schedule(): void {
    this.#cancel = this.#clock.schedule(SECOND_MS, () => {
      this.#cancel = undefined;
      this.#seconds += 1;
      // An entry may remove others: a removed entry is not ticked.
      for (const entry of this.#entries()) if (entry.before !== undefined) entry.tick(this.#seconds);
      if (this.#head.after !== undefined && this.#cancel === undefined) this.#schedule();
    });
  }

  /** A copy of the list, because entries are added and removed while others are ticked. */
  #entries(): readonly TickEntry[] {
    const entries: TickEntry[] = [];
    for (let entry = this.#head.after; entry !== undefined; entry = entry.after) entries.push(entry);
    return entries;
  }
}
