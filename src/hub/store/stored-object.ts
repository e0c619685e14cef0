import type { JsonObject, JsonValue } from '../json/json-value.ts';

/** Where an object lives: a table of the store, a namespace ('' for cluster-scoped kinds) and a name. */
export interface StorageKey {
  /** `configmaps`, `placements.cluster.open-cluster-management.io`: one table for all versions of a resource. */
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
}

/** One version of one object, frozen. Its JSON is made once, when first needed, and shared by log, lists and watches. */
export class StoredObject {
  readonly namespace: string;
  readonly name: string;
  readonly rv: number;
  readonly object: JsonObject;
  #json: string | undefined;

  constructor(key: { readonly namespace: string; readonly name: string }, rv: number, object: JsonObject) {
    this.namespace = key.namespace;
    this.name = key.name;
    this.rv = rv;
    this.object = object;
  }

  json(): string {
    this.#json ??= JSON.stringify(this.object);
    return this.#json;
  }
}

/** A copy of `object` with this resourceVersion, frozen to the bottom. Parts that are frozen already are shared. */
export function stampVersion(object: JsonObject, rv: number): JsonObject {
  const metadata = object['metadata'] as JsonObject;
  return deepFreeze({ ...object, metadata: { ...metadata, resourceVersion: String(rv) } });
}

export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else for (const key of Object.keys(value)) deepFreeze(value[key] as JsonValue);
  return value;
}
