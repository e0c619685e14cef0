import type { Clock } from '@berth/runtime/clock/clock';
import { lowerBound } from '@berth/runtime/lists/lower-bound';
import type { JsonObject } from '../json/json-value.ts';
import { AppendLog, type LogIdentity } from '../log/append-log.ts';
import type { RecoveredObject } from '../log/recovery.ts';
import type { SnapshotObject } from '../log/snapshot-file.ts';
import { objectTooLarge } from '../wire/status-errors.ts';
import { type StorageKey, StoredObject, stampVersion } from './stored-object.ts';
import {
  type EventListener,
  EventRing,
  type StoreEvent,
  Subscriptions,
  type SubscriptionScope,
} from './subscriptions.ts';

const RING_EVENTS = 2_500;

interface Table {
  readonly objects: ResourceTable;
  readonly ring: EventRing;
  readonly subscriptions: Subscriptions;
}

/** An object that a store has from the start. */
export interface GivenObject {
  readonly storage: string;
  readonly entry: StoredObject;
}

interface PendingEvent extends StoreEvent {
  readonly storage: string;
}

/**
 * All objects of one cluster in memory, with every change in the log. Memory is ahead of the
 * disk by the batch that is being written. Responses to writes, and to reads that may include them,
 * are sent after `durable(rv)`, and watches get only durable events. So no client sees a state that
 * a crash could lose.
 */
export class ObjectStore {
  readonly #tables = new Map<string, Table>();
  readonly #clock: Clock;
  readonly owners = new OwnerIndex();
  #log: AppendLog;
  #rv = 0;
  #startRv = 0;
  #undelivered: PendingEvent[] = [];
  readonly #everything = new Set<(storage: string, events: readonly StoreEvent[]) => void>();
  #objects = 0;
  #given: readonly GivenObject[] = [];
  /** The given ones that no stored one has replaced. */
  readonly #shown = new Set<StoredObject>();

  private constructor(clock: Clock) {
    this.#clock = clock;
    this.#log = undefined as never;
  }

  /** @throws InputError when the directory is damaged. `onFatal`: the disk failed; the process must end. */
  static async open(options: {
    readonly directory: string;
    readonly identity?: Partial<LogIdentity> | undefined;
    readonly clock: Clock;
    readonly onFatal: (error: unknown) => void;
    readonly onWarning: (warning: string) => void;
  }): Promise<ObjectStore> {
    const store = new ObjectStore(options.clock);
    const { log, state } = await AppendLog.open({
      directory: options.directory,
      identity: options.identity,
      onDurable: (rv) => store.#deliver(rv),
      onFatal: options.onFatal,
    });
    for (const warning of state.warnings) options.onWarning(warning);
    store.#log = log;
    store.#rv = state.rv;
    store.#startRv = state.rv;
    for (const recovered of state.objects) store.#remember(recovered.storage, entryOf(recovered));
    return store;
  }

  /** Adds objects that are never written to the log. A stored one of the same name replaces one of these until it is deleted. */
  give(given: readonly GivenObject[]): void {
    this.#given = given;
    for (const { storage, entry } of given)
      if (this.get(keyOf(storage, entry)) === undefined) this.#show(storage, entry);
  }

  /** The object, unless it is given. */
  stored(key: StorageKey): StoredObject | undefined {
    const entry = this.get(key);
    return entry === undefined || this.#shown.has(entry) ? undefined : entry;
  }

  /** The newest version, which may not be durable yet. */
  get rv(): number {
    return this.#rv;
  }

  get objectCount(): number {
    return this.#objects - this.#shown.size;
  }

  get logBytes(): number {
    return this.#log.sizeBytes;
  }

  get(key: StorageKey): StoredObject | undefined {
    return this.#tables.get(key.storage)?.objects.get(key.namespace, key.name);
  }

  list(storage: string, namespace?: string): StoredObject[] {
    return this.#tables.get(storage)?.objects.list(namespace) ?? [];
  }

  count(storage: string): number {
    return this.#tables.get(storage)?.objects.size ?? 0;
  }

  storages(): readonly string[] {
    return [...this.#tables.keys()];
  }

  /**
   * Stores the object under the next version. The caller has checked preconditions in the same turn
   * of the loop.
   * @throws StatusError 413 when a client's write (`bounded`) makes the object larger than the
   * limit
   */
  put(key: StorageKey, object: JsonObject, bounded = false): StoredObject {
    const rv = this.#rv + 1;
    const previous = this.get(key);
    const entry = StoredObject.of(key, rv, stampVersion(object, rv));
    if (bounded) refuseGrowth(entry, previous);
    this.#rv = rv;
    this.#remember(key.storage, entry);
    this.#log.put(key, rv, { timeMs: this.#clock.now(), json: entry.json(), facts: entry.facts });
    this.#undelivered.push({
      storage: key.storage,
      rv,
      type: previous === undefined ? 'added' : 'modified',
      entry,
      previous,
    });
    return entry;
  }

  /** Removes the object; the returned last state carries the version of the removal. */
  delete(key: StorageKey, lastState: JsonObject): StoredObject {
    const rv = ++this.#rv;
    const previous = this.get(key);
    const entry = StoredObject.of(key, rv, stampVersion(lastState, rv));
    if (previous !== undefined) {
      this.#table(key.storage).objects.delete(key.namespace, key.name);
      this.owners.replace(key.storage, previous, undefined);
      this.#objects -= 1;
    }
    this.#log.delete(key, rv, this.#clock.now());
    const given = this.#given.find((one) => pathOf(one.storage, one.entry) === pathOf(key.storage, entry));
    if (given === undefined)
      this.#undelivered.push({ storage: key.storage, rv, type: 'deleted', entry, previous });
    else {
      const again = StoredObject.of(key, rv, stampVersion(given.entry.object, rv));
      this.#show(key.storage, again);
      this.#undelivered.push({ storage: key.storage, rv, type: 'modified', entry: again, previous });
    }
    return entry;
  }

  durable(rv: number): Promise<void> {
    return this.#log.durable(rv);
  }

  get durableRv(): number {
    return this.#log.durableRv;
  }

  /** Durable changes after `rv`; undefined if they are no longer available. */
  eventsSince(storage: string, rv: number): readonly StoreEvent[] | undefined {
    return this.#table(storage).ring.since(rv);
  }

  /** The returned function ends the subscription. */
  subscribe(storage: string, scope: SubscriptionScope, listener: EventListener): () => void {
    return this.#table(storage).subscriptions.add(scope, listener);
  }

  /** The same for all resources, including those that are defined later. */
  subscribeAll(listener: (storage: string, events: readonly StoreEvent[]) => void): () => void {
    this.#everything.add(listener);
    return () => this.#everything.delete(listener);
  }

  compact(): Promise<void> {
    return this.#log.compact(() => ({
      rv: this.#rv,
      timeMs: this.#clock.now(),
      objects: this.#snapshotObjects(),
    }));
  }

  /** Records the durable size of the log, so that a later start detects a truncated log. */
  checkpoint(): Promise<void> {
    return this.#log.checkpoint();
  }

  close(): Promise<void> {
    return this.#log.close(this.#rv);
  }

  #snapshotObjects(): SnapshotObject[] {
    const objects: SnapshotObject[] = [];
    for (const [storage, table] of this.#tables)
      for (const entry of table.objects.list()) {
        if (this.#shown.has(entry)) continue;
        objects.push({
          storage,
          namespace: entry.namespace,
          name: entry.name,
          rv: entry.rv,
          facts: entry.facts,
          json: () => entry.json(),
        });
      }
    return objects;
  }

  #show(storage: string, entry: StoredObject): void {
    this.#remember(storage, entry);
    this.#shown.add(entry);
  }

  #remember(storage: string, entry: StoredObject): void {
    const { objects } = this.#table(storage);
    const previous = objects.get(entry.namespace, entry.name);
    if (previous === undefined) this.#objects += 1;
    else this.#shown.delete(previous);
    objects.set(entry);
    this.owners.replace(storage, previous, entry);
  }

  #table(storage: string): Table {
    let table = this.#tables.get(storage);
    if (table === undefined) {
      const ring = new EventRing(RING_EVENTS, this.#startRv);
      table = { objects: new ResourceTable(), ring, subscriptions: new Subscriptions() };
      this.#tables.set(storage, table);
    }
    return table;
  }

  #deliver(durableRv: number): void {
    const ahead = this.#undelivered.findIndex((event) => event.rv > durableRv);
    const due = ahead < 0 ? this.#undelivered : this.#undelivered.slice(0, ahead);
    this.#undelivered = ahead < 0 ? [] : this.#undelivered.slice(ahead);
    const byStorage = new Map<string, StoreEvent[]>();
    for (const event of due) {
      this.#table(event.storage).ring.push(event);
      const events = byStorage.get(event.storage);
      if (events === undefined) byStorage.set(event.storage, [event]);
      else events.push(event);
    }
    for (const [storage, events] of byStorage) {
      this.#table(storage).subscriptions.deliver(events);
      for (const listener of this.#everything) listener(storage, events);
    }
  }
}

/**
 * Twice the largest request body, in characters of JSON, because managedFields and defaults are
 * added.
 */
const MAX_OBJECT_LENGTH = 6 * 1024 * 1024;

/** An object that exceeds the limit already may shrink, and lose its finalizers. */
function refuseGrowth(entry: StoredObject, previous: StoredObject | undefined): void {
  const { length } = entry.json();
  if (length > MAX_OBJECT_LENGTH && length > (previous?.json().length ?? 0))
    throw objectTooLarge(MAX_OBJECT_LENGTH);
}

function entryOf(recovered: RecoveredObject): StoredObject {
  const { namespace, name, rv, json, facts } = recovered;
  // Accessing the object would parse it.
  return StoredObject.fromJson({ namespace, name }, rv, json ?? JSON.stringify(recovered.object), facts);
}

interface Bucket {
  readonly objects: Map<string, StoredObject>;
  readonly names: SortedNames;
}

/** The objects of one resource, by namespace and name; listed in the order of an API server's keys. */
class ResourceTable {
  readonly #buckets = new Map<string, Bucket>();
  /** Namespaces with a trailing `/`, as keys order them: `a-b/` comes before `a/`. */
  readonly #prefixes = new SortedNames();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(namespace: string, name: string): StoredObject | undefined {
    return this.#buckets.get(namespace)?.objects.get(name);
  }

  set(entry: StoredObject): void {
    let bucket = this.#buckets.get(entry.namespace);
    if (bucket === undefined) {
      bucket = { objects: new Map(), names: new SortedNames() };
      this.#buckets.set(entry.namespace, bucket);
      this.#prefixes.add(`${entry.namespace}/`);
    }
    if (!bucket.objects.has(entry.name)) {
      bucket.names.add(entry.name);
      this.#size += 1;
    }
    bucket.objects.set(entry.name, entry);
  }

  delete(namespace: string, name: string): void {
    const bucket = this.#buckets.get(namespace);
    if (bucket === undefined || !bucket.objects.delete(name)) return;
    bucket.names.delete(name);
    this.#size -= 1;
    if (bucket.objects.size > 0) return;
    this.#buckets.delete(namespace);
    this.#prefixes.delete(`${namespace}/`);
  }

  /** Objects in key order; of one namespace when given. */
  list(namespace?: string): StoredObject[] {
    const listed: StoredObject[] = [];
    const prefixes = namespace === undefined ? this.#prefixes.values() : [`${namespace}/`];
    for (const prefix of prefixes) {
      const bucket = this.#buckets.get(prefix.slice(0, -1));
      if (bucket === undefined) continue;
      for (const name of bucket.names.values()) listed.push(bucket.objects.get(name) as StoredObject);
    }
    return listed;
  }
}

/** Names in ascending order. Built lazily: bulk loading costs one sort, a single change a binary search. */
class SortedNames {
  #names: string[] = [];
  #sorted = true;

  add(name: string): void {
    const last = this.#names.at(-1);
    if (!this.#sorted || last === undefined || last < name) {
      this.#names.push(name);
      return;
    }
    // Many insertions between two reads: appending and sorting once is cheaper than moving the tail each time.
    this.#names.push(name);
    this.#sorted = false;
  }

  delete(name: string): void {
    const names = this.values();
    const index = lowerBound(names.length, (at) => (names[at] as string) < name);
    if (names[index] === name) this.#names.splice(index, 1);
  }

  values(): readonly string[] {
    if (!this.#sorted) {
      this.#names.sort();
      this.#sorted = true;
    }
    return this.#names;
  }
}

/** The dependents of each owner, by uid, and which uids exist; for garbage collection. */
class OwnerIndex {
  readonly #dependents = new Map<string, Map<string, StorageKey>>();
  readonly #uids = new Map<string, StorageKey>();

  /** Updates the index when an object is written (`next`) or removed (`next` undefined). */
  replace(storage: string, previous: StoredObject | undefined, next: StoredObject | undefined): void {
    if (previous !== undefined && previous.facts.uid !== next?.facts.uid)
      this.#uids.delete(previous.facts.uid);
    if (next !== undefined) this.#uids.set(next.facts.uid, keyOf(storage, next));
    const before = previous?.facts.owners ?? [];
    const after = next?.facts.owners ?? [];
    if (before.length === 0 && after.length === 0) return;
    for (const uid of before) this.#drop(uid, storage, previous as StoredObject);
    for (const uid of after) this.#add(uid, storage, next as StoredObject);
  }

  dependentsOf(uid: string): readonly StorageKey[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  /** The key of the object with this uid; undefined if there is none. */
  find(uid: string): StorageKey | undefined {
    return this.#uids.get(uid);
  }

  #add(uid: string, storage: string, entry: StoredObject): void {
    let dependents = this.#dependents.get(uid);
    if (dependents === undefined) {
      dependents = new Map<string, StorageKey>();
      this.#dependents.set(uid, dependents);
    }
    dependents.set(pathOf(storage, entry), keyOf(storage, entry));
  }

  #drop(uid: string, storage: string, entry: StoredObject): void {
    const dependents = this.#dependents.get(uid);
    dependents?.delete(pathOf(storage, entry));
    if (dependents?.size === 0) this.#dependents.delete(uid);
  }
}

function keyOf(storage: string, entry: StoredObject): StorageKey {
  return { storage, namespace: entry.namespace, name: entry.name };
}

function pathOf(storage: string, entry: StoredObject): string {
  return `${storage}/${entry.namespace}/${entry.name}`;
}
