import type { JsonObject, JsonValue } from '@berth/runtime/json/json-value';

/*
 * A short notation for structural schemas; every function returns OpenAPI v3 JSON. In `object` a name that ends in `!` is required.
 */
type More = Readonly<JsonObject>;

export function object(fields: Readonly<Record<string, JsonObject>>, more: More = {}): JsonObject {
  const properties: JsonObject = {};
  const required: JsonValue[] = [];
  for (const [key, schema] of Object.entries(fields)) {
    const name = key.replace(/!$/, '');
    properties[name] = schema;
    if (name !== key) required.push(name);
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}), ...more };
}

export const mapOf = (values: JsonObject, more: More = {}): JsonObject => ({
  type: 'object',
  additionalProperties: values,
  ...more,
});

export const listOf = (items: JsonObject, more: More = {}): JsonObject => ({ type: 'array', items, ...more });

export const atomicList = (items: JsonObject, more: More = {}): JsonObject =>
  listOf(items, { 'x-kubernetes-list-type': 'atomic', ...more });

/** A list whose items are identified by `keys`. */
export const listBy = (keys: readonly string[], items: JsonObject, more: More = {}): JsonObject =>
  listOf(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys], ...more });

export const string = (more: More = {}): JsonObject => ({ type: 'string', ...more });
export const boolean = (more: More = {}): JsonObject => ({ type: 'boolean', ...more });
export const integer = (more: More = {}): JsonObject => ({ type: 'integer', ...more });
export const int32 = (more: More = {}): JsonObject => integer({ format: 'int32', ...more });
export const int64 = (more: More = {}): JsonObject => integer({ format: 'int64', ...more });
export const time = (more: More = {}): JsonObject => string({ format: 'date-time', ...more });

export const intOrString = (more: More = {}): JsonObject => ({
  anyOf: [integer(), string()],
  'x-kubernetes-int-or-string': true,
  ...more,
});

/** A complete object of any kind, without a schema. */
export const embeddedObject = (): JsonObject => ({
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
});
