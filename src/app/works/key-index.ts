import type { ObjectChange } from '../../adapters/kube/object-store.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';

/** Objects by a text derived from them (none, one or several per object), kept up to date by changes. */
export class KeyIndex {
  readonly #keysOf: (object: KubeObject) => readonly string[];
  readonly #buckets = new Map<string, Map<string, KubeObject>>();

  constructor(keysOf: (object: KubeObject) => string | readonly string[] | undefined) {
    this.#keysOf = (object) => {
      const keys = keysOf(object);
      return keys === undefined ? [] : typeof keys === 'string' ? [keys] : keys;
    };
  }

  get(key: string): readonly KubeObject[] {
    return [...(this.#buckets.get(key)?.values() ?? [])];
  }

  apply({ key: objectKey, before, after }: ObjectChange): void {
    for (const key of before === undefined ? [] : this.#keysOf(before)) {
      const bucket = this.#buckets.get(key);
      bucket?.delete(objectKey);
      if (bucket?.size === 0) this.#buckets.delete(key);
    }
    for (const key of after === undefined ? [] : this.#keysOf(after)) {
      const bucket = this.#buckets.get(key) ?? new Map<string, KubeObject>();
      bucket.set(objectKey, after as KubeObject);
      this.#buckets.set(key, bucket);
    }
  }
}
