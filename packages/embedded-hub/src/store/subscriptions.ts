import { lowerBound } from '@berth/runtime/lists/lower-bound';
import type { StoredObject } from './stored-object.ts';

/** Gets the durable changes of one resource in order, one call per group commit. */
export type EventListener = (events: readonly StoreEvent[]) => void;

/** The events that a subscriber wants; a narrower scope is called for fewer events. */
export interface SubscriptionScope {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Subscribers of one resource in three sets: of everything, of one namespace, of one name. With thousands of agents that
 * watch a namespace each, an event costs only the agents it concerns.
 */
export class Subscriptions {
  readonly #all = new Set<EventListener>();
  readonly #byNamespace = new Map<string, Set<EventListener>>();
  readonly #byName = new Map<string, Set<EventListener>>();

  /** The returned function ends the subscription. */
  add(scope: SubscriptionScope, listener: EventListener): () => void {
    if (scope.name !== undefined) return addTo(this.#byName, nameKey(scope.namespace, scope.name), listener);
    if (scope.namespace !== undefined) return addTo(this.#byNamespace, scope.namespace, listener);
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  deliver(events: readonly StoreEvent[]): void {
    for (const listener of this.#all) listener(events);
    if (this.#byNamespace.size > 0)
      deliverGroups(events, this.#byNamespace, (event) => [event.entry.namespace]);
    if (this.#byName.size > 0)
      deliverGroups(events, this.#byName, ({ entry }) => [
        nameKey(entry.namespace, entry.name),
        nameKey(undefined, entry.name),
      ]);
  }

  get size(): number {
    let size = this.#all.size;
    for (const sets of [this.#byNamespace, this.#byName]) for (const set of sets.values()) size += set.size;
    return size;
  }
}

/** Without a namespace: that name in every namespace. */
function nameKey(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function addTo(sets: Map<string, Set<EventListener>>, key: string, listener: EventListener): () => void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  set.add(listener);
  return () => {
    set.delete(listener);
    if (set.size === 0 && sets.get(key) === set) sets.delete(key);
  };
}

function deliverGroups(
  events: readonly StoreEvent[],
  sets: ReadonlyMap<string, ReadonlySet<EventListener>>,
  keysOf: (event: StoreEvent) => readonly string[],
): void {
  const groups = new Map<string, StoreEvent[]>();
  for (const event of events) {
    for (const key of keysOf(event)) {
      if (!sets.has(key)) continue;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [event]);
      else group.push(event);
    }
  }
  for (const [key, group] of groups) for (const listener of sets.get(key) ?? []) listener(group);
}

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
