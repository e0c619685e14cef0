import type { KubeObject } from '../model/object-meta.ts';
import { namespacedName } from '../model/object-ref.ts';
import type { ObjectChange, ObjectStore } from './object-store.ts';

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
