import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { KubeObject } from '../model/object-meta.ts';
import { namespacedName } from '../model/object-ref.ts';

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
