import type { StorageKey, StoredObject } from './stored-object.ts';

/** The dependents of each owner, by uid, and which uids exist; for garbage collection. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Map<string, StorageKey>>();
  readonly #uids = new Map<string, StorageKey>();

  /** Updates the index when an object is written (`next`) or removed (`next` undefined). */
  replace(storage: string, previous: StoredObject | undefined, next: StoredObject | undefined): void {
    if (previous !== undefined && next === undefined) this.#uids.delete(previous.facts.uid);
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
