import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject, setOwn } from '../json/json-value.ts';
import type { Schema } from '../scheme/schema.ts';
import type { FieldPath } from './field-path.ts';
import { child, entryOf } from './field-path.ts';

/** What to put in the place of an embedded resource: itself when nothing has to change. */
export type EmbeddedMapping = (resource: JsonObject, path: FieldPath | undefined) => JsonObject;

/** Whether a schema has a place for embedded resources. Schemas of custom resources are trees; built-in ones have none. */
const known = new WeakMap<Schema, boolean>();

function hasEmbedded(schema: Schema): boolean {
  const found = known.get(schema);
  if (found !== undefined) return found;
  known.set(schema, false);
  const below = [...(schema.properties?.values() ?? []), schema.items, schema.additional];
  const has =
    schema.embeddedResource === true || below.some((one) => typeof one === 'object' && hasEmbedded(one));
  known.set(schema, has);
  return has;
}

/** Maps every embedded resource in a value, the outer ones first. Returns the value itself when nothing changed. */
export function mapEmbedded(
  schema: Schema,
  value: JsonValue,
  map: EmbeddedMapping,
  path?: FieldPath,
): JsonValue {
  if (!hasEmbedded(schema)) return value;
  if (Array.isArray(value)) return mapList(schema, value, map, path);
  if (!isObject(value)) return value;
  const own = schema.embeddedResource === true ? map(value, path) : value;
  return mapFields(schema, own, map, path);
}

function mapList(
  { items }: Schema,
  list: JsonValue[],
  map: EmbeddedMapping,
  path: FieldPath | undefined,
): JsonValue[] {
  if (items === undefined) return list;
  let changed = false;
  const mapped = list.map((item, index) => {
    const result = mapEmbedded(items, item, map, child(path, index));
    changed ||= result !== item;
    return result;
  });
  return changed ? mapped : list;
}

function mapFields(
  schema: Schema,
  object: JsonObject,
  map: EmbeddedMapping,
  path: FieldPath | undefined,
): JsonObject {
  let copy: JsonObject | undefined;
  for (const key of Object.keys(object)) {
    const declared = schema.properties?.get(key);
    const below = declared ?? (schema.additional === true ? undefined : schema.additional);
    if (below === undefined) continue;
    const value = object[key] as JsonValue;
    const place = declared === undefined ? entryOf(path, key) : child(path, key);
    const mapped = mapEmbedded(below, value, map, place);
    if (mapped !== value) setOwn((copy ??= { ...object }), key, mapped);
  }
  return copy ?? object;
}
