import { isObject, type JsonObject, type JsonValue, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { ObjectFacts } from '../log/log-record.ts';

/** Key of an object in the store: a table, a namespace ('' for cluster-scoped kinds) and a name. */
export interface StorageKey {
  /** `configmaps`, `placements.cluster.open-cluster-management.io`: one table for all versions of a resource. */
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * One version of one object, frozen. Its JSON is rendered once, when first needed, and shared by
 * log, lists and watches. A recovered object is parsed when it is first accessed, which makes the
 * start several times faster and saves memory.
 */
export class StoredObject {
  readonly namespace: string;
  readonly name: string;
  readonly rv: number;
  readonly facts: ObjectFacts;
  #object: JsonObject | undefined;
  #json: string | undefined;

  private constructor(key: ObjectKey, rv: number, content: ObjectContent) {
    this.namespace = key.namespace;
    this.name = key.name;
    this.rv = rv;
    this.facts = content.facts;
    this.#object = content.object;
    this.#json = content.json;
  }

  /** @param object frozen, with its resourceVersion */
  static of(key: ObjectKey, rv: number, object: JsonObject): StoredObject {
    return new StoredObject(key, rv, { facts: factsOf(object), object });
  }

  /** @param facts undefined: the object is parsed to find them */
  static fromJson(key: ObjectKey, rv: number, json: string, facts: ObjectFacts | undefined): StoredObject {
    const found = facts ?? factsOf(JSON.parse(json) as JsonObject);
    return new StoredObject(key, rv, { facts: found, json });
  }

  get object(): JsonObject {
    this.#object ??= deepFreeze(JSON.parse(this.#json ?? '{}') as JsonObject);
    return this.#object;
  }

  /** False when the object had been parsed before. */
  parse(): boolean {
    const isNew = this.#object === undefined;
    this.#object = this.object;
    return isNew;
  }

  json(): string {
    this.#json ??= JSON.stringify(this.object);
    return this.#json;
  }

  /** Read from the text without parsing, for the usual order of keys. */
  get apiVersion(): string {
    const shown = this.#object === undefined ? API_VERSION.exec(this.#json ?? '')?.[1] : undefined;
    return shown ?? textAt(this.object, 'apiVersion');
  }
}

interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

interface ObjectContent {
  readonly facts: ObjectFacts;
  readonly object?: JsonObject;
  readonly json?: string;
}

const API_VERSION = /^\{(?:"kind":"[^"\\]*",)?"apiVersion":"([^"\\]*)"/;
const NO_OWNERS: readonly string[] = [];

function factsOf(object: JsonObject): ObjectFacts {
  const metadata = objectAt(object, 'metadata');
  const references = listAt(metadata, 'ownerReferences');
  return {
    uid: textAt(metadata, 'uid'),
    owners:
      references.length === 0
        ? NO_OWNERS
        : references.filter(isObject).map((reference) => textAt(reference, 'uid')),
    deleting: textAt(metadata, 'deletionTimestamp') !== '',
  };
}

/**
 * A deeply frozen copy of `object` with this resourceVersion. Parts that are frozen already are
 * shared.
 */
export function stampVersion(object: JsonObject, rv: number): JsonObject {
  const metadata = object['metadata'] as JsonObject;
  return deepFreeze({ ...object, metadata: { ...metadata, resourceVersion: String(rv) } });
}

export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else freezeFields(value);
  return value;
}

/** Plain JSON inherits no enumerable key; unlike Object.keys, this allocates no list. */
function freezeFields(object: JsonObject): void {
  for (const key in object) deepFreeze(object[key] as JsonValue);
}
