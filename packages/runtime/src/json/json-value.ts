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
