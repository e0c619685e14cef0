import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { KubeObject } from '../model/object-meta.ts';
import { namespacedName } from '../model/object-ref.ts';
import { compareText } from '@berth/runtime/text/compare-text';
import { lowerBound } from '@berth/runtime/lists/lower-bound';

/** A modification has both `before` and `after`. `key` is `namespace/name`, or `name` for a cluster-scoped kind. */
export interface ObjectChange {
  readonly key: string;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** The last seen objects of one kind, by key. Notifies its listeners of changes. */
export class ObjectStore {
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners = new Set<(change: ObjectChange) => void>();
  readonly #listListeners = new Set<(resourceVersion: string) => void>();
  #revision = 0;

  get size(): number {
    return this.#objects.size;
  }

  /** Grows with every change. The same number means the same objects. */
  get revision(): number {
    return this.#revision;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  list(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  /** @returns a function that removes the listener */
  onChange(listener: (change: ObjectChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls the listener after each complete list, when the store shows it, with the resource version of the list.
   * @returns a function that removes the listener
   */
  onListed(listener: (resourceVersion: string) => void): () => void {
    this.#listListeners.add(listener);
    return () => this.#listListeners.delete(listener);
  }

  put(object: KubeObject): void {
    const key = namespacedName(object.metadata);
    const before = this.#objects.get(key);
    if (before === undefined || !sameVersion(before, object)) this.#set(key, object);
  }

  remove(key: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#objects.delete(key);
    this.#notify({ key, before, after: undefined });
  }

  /**
   * Replaces everything by a complete list. Objects that are not in it are deleted.
   * @param isSameHistory false for a server that was restored, where the same version of an object may have other
   *   content
   */
  replace(
    objects: readonly KubeObject[],
    {
      isSameHistory = true,
      resourceVersion = '',
    }: { isSameHistory?: boolean; resourceVersion?: string } = {},
  ): void {
    const present = new Set(objects.map((object) => namespacedName(object.metadata)));
    for (const object of objects) {
      if (isSameHistory) this.put(object);
      else this.#putOther(object);
    }
    for (const key of [...this.#objects.keys()]) if (!present.has(key)) this.remove(key);
    for (const listener of this.#listListeners) listener(resourceVersion);
  }

  #putOther(object: KubeObject): void {
    const key = namespacedName(object.metadata);
    if (!jsonEqual(this.#objects.get(key), object)) this.#set(key, object);
  }

  #set(key: string, object: KubeObject): void {
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#notify({ key, before, after: object });
  }

  #notify(change: ObjectChange): void {
    this.#revision += 1;
    for (const listener of this.#listeners) listener(change);
  }
}

function sameVersion(a: KubeObject, b: KubeObject): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.metadata.resourceVersion === b.metadata.resourceVersion &&
    a.metadata.resourceVersion !== undefined
  );
}

/**
 * Objects by texts derived from them (none, one or several for each object). The changes of a store keep the index up
 * to date.
 */
export class KeyIndex {
  readonly #keysOf: (object: KubeObject) => readonly string[];
  readonly #buckets = new Map<string, Map<string, KubeObject>>();

  constructor(
    store: Pick<ObjectStore, 'list' | 'onChange'>,
    keysOf: (object: KubeObject) => string | readonly string[] | undefined,
  ) {
    this.#keysOf = (object) => {
      const keys = keysOf(object);
      return keys === undefined ? [] : typeof keys === 'string' ? [keys] : keys;
    };
    for (const object of store.list()) this.#add(namespacedName(object.metadata), object);
    store.onChange((change) => this.#apply(change));
  }

  get(key: string): readonly KubeObject[] {
    return [...(this.#buckets.get(key)?.values() ?? [])];
  }

  #apply({ key, before, after }: ObjectChange): void {
    if (before !== undefined) this.#remove(key, before);
    if (after !== undefined) this.#add(key, after);
  }

  #remove(objectKey: string, object: KubeObject): void {
    for (const key of this.#keysOf(object)) {
      const bucket = this.#buckets.get(key);
      bucket?.delete(objectKey);
      if (bucket?.size === 0) this.#buckets.delete(key);
    }
  }

  #add(objectKey: string, object: KubeObject): void {
    for (const key of this.#keysOf(object)) {
      const bucket = this.#buckets.get(key) ?? new Map<string, KubeObject>();
      bucket.set(objectKey, object);
      this.#buckets.set(key, bucket);
    }
  }
}

/** If more objects changed, all are sorted again instead of inserting them one by one. */
const MAX_SINGLE_INSERTS = 64;

/**
 * The objects of a store, sorted by their keys. A list that was returned never changes, and the same list is returned
 * while nothing changes. After a few changes, the next list costs a copy.
 */
export class SortedView<T = KubeObject> {
  readonly #store: ObjectStore;
  readonly #read: (object: KubeObject) => T;
  readonly #changed = new Set<string>();
  #keys: string[] = [];
  #list: readonly T[] = [];

  /** @param read computes what is listed for an object; called once for each version, or more often if many changed */
  constructor(store: ObjectStore, read: (object: KubeObject) => T) {
    this.#store = store;
    this.#read = read;
    for (const object of store.list()) this.#changed.add(namespacedName(object.metadata));
    store.onChange(({ key }) => this.#changed.add(key));
  }

  list(): readonly T[] {
    if (this.#changed.size > MAX_SINGLE_INSERTS) this.#sortAll();
    else if (this.#changed.size > 0) this.#updateChanged();
    this.#changed.clear();
    return this.#list;
  }

  #sortAll(): void {
    const entries = this.#store.list().map((object) => ({ key: namespacedName(object.metadata), object }));
    entries.sort((a, b) => compareText(a.key, b.key));
    this.#keys = entries.map(({ key }) => key);
    this.#list = entries.map(({ object }) => this.#read(object));
  }

  #updateChanged(): void {
    const list = [...this.#list];
    for (const key of this.#changed) {
      const index = lowerBound(this.#keys.length, (at) => (this.#keys[at] as string) < key);
      const replaced = this.#keys[index] === key ? 1 : 0;
      const object = this.#store.get(key);
      if (object !== undefined && replaced === 1) list[index] = this.#read(object);
      else {
        this.#keys.splice(index, replaced, ...(object === undefined ? [] : [key]));
        list.splice(index, replaced, ...(object === undefined ? [] : [this.#read(object)]));
      }
    }
    this.#list = list;
  }
}
