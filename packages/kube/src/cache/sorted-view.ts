import { compareText } from '@berth/runtime/text/compare-text';
import type { KubeObject } from '../model/object-meta.ts';
import { lowerBound } from '@berth/runtime/lists/lower-bound';
import { namespacedName } from '../model/object-ref.ts';
import type { ObjectStore } from './object-store.ts';

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
