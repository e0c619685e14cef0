import { lowerBound } from '@berth/runtime/lists/lower-bound';
import type { StoredObject } from './stored-object.ts';

/**
 * One durable change. `entry` is the new state; for a deletion, the last state with the version of
 * the deletion.
 */
export interface StoreEvent {
  readonly rv: number;
  readonly type: 'added' | 'modified' | 'deleted';
  readonly entry: StoredObject;
  readonly previous: StoredObject | undefined;
}

/** The latest changes of one resource, so that a watch can continue where an earlier one ended. */
export class EventRing {
  readonly #capacity: number;
  /**
   * Changes up to this version are not available: they were dropped, or happened before this
   * process started.
   */
  #forgottenRv: number;
  #events: StoreEvent[] = [];

  constructor(capacity: number, startRv: number) {
    this.#capacity = capacity;
    this.#forgottenRv = startRv;
  }

  push(event: StoreEvent): void {
    this.#events.push(event);
    if (this.#events.length < this.#capacity * 2) return;
    // Dropping half of the events at once keeps appending cheap; at least `capacity` events remain.
    const dropped = this.#events.length - this.#capacity;
    this.#forgottenRv = (this.#events[dropped - 1] as StoreEvent).rv;
    this.#events = this.#events.slice(dropped);
  }

  /** All changes after `rv`, in order; undefined if they are no longer available. */
  since(rv: number): readonly StoreEvent[] | undefined {
    if (rv < this.#forgottenRv) return undefined;
    const first = lowerBound(this.#events.length, (at) => (this.#events[at] as StoreEvent).rv <= rv);
    return this.#events.slice(first);
  }
}
