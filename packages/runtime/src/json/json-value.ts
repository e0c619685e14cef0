/** Plain JSON, as parsed. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/* Fields of JSON that others send: one may be absent, of another type, or named like a member of `Object.prototype`. */

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The own property, never one inherited from Object.prototype. */
export function getOwn(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The object under `key`, or undefined when it is absent or something else. */
export function objectAt(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = object === undefined ? undefined : getOwn(object, key);
  return isObject(value) ? value : undefined;
}

/** The text under `key`, or '' when it is absent or something else. */
export function textAt(object: JsonObject | undefined, key: string): string {
  const value = object === undefined ? undefined : getOwn(object, key);
  return typeof value === 'string' ? value : '';
}

/** The list under `key`, or an empty one when it is absent or something else. */
export function listAt(object: JsonObject | undefined, key: string): readonly JsonValue[] {
  const value = object === undefined ? undefined : getOwn(object, key);
  return Array.isArray(value) ? value : [];
}

/** Sets an own property even when its name is `__proto__`. */
export function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

/**
 * A copy without one key; the object itself when it has no such key. `delete` on a copy would turn
 * it into a hash table in the engine, which makes every later read and copy slow, and a write
 * copies metadata many times.
 */
export function withoutKey(object: JsonObject, key: string): JsonObject {
  if (!Object.hasOwn(object, key)) return object;
  const rest: JsonObject = {};
  for (const name of Object.keys(object)) if (name !== key) setOwn(rest, name, object[name] as JsonValue);
  return rest;
}
