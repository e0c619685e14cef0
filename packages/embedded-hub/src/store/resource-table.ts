import { SortedNames } from './sorted-names.ts';
import type { StoredObject } from './stored-object.ts';

interface Bucket {
  readonly objects: Map<string, StoredObject>;
  readonly names: SortedNames;
}

/** The objects of one resource, by namespace and name; listed in the order of an API server's keys. */
export class ResourceTable {
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
