import { isObject, type JsonObject, type JsonValue, setOwn } from '../json/json-value.ts';
import type { Schema } from './schema.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import { child, type FieldPath, pathText } from './field-path.ts';

/** Maximum number of reported unknown fields; further ones are removed silently. */
const MAX_REPORTED = 100;

/**
 * Removes unknown fields. Returns the same value if there are none.
 * @param unknown collects the first hundred paths, e.g. `spec.containers[0].foo`
 */
export function prune(schema: Schema, value: JsonValue, unknown: string[], path?: FieldPath): JsonValue {
  if (Array.isArray(value))
    return schema.items === undefined ? value : pruneList(schema.items, value, unknown, path);
  return isObject(value) ? pruneObject(schema, value, unknown, path) : value;
}

function pruneList(
  items: Schema,
  list: JsonValue[],
  unknown: string[],
  path: FieldPath | undefined,
): JsonValue[] {
  let changed = false;
  chargeWork(list.length + 1);
  const result = list.map((item, index) => {
    const kept = prune(items, item, unknown, child(path, index));
    changed ||= kept !== item;
    return kept;
  });
  return changed ? result : list;
}

function pruneObject(
  schema: Schema,
  object: JsonObject,
  unknown: string[],
  path: FieldPath | undefined,
): JsonObject {
  if (schema.type !== 'object' && schema.type !== '') return object;
  // Nearly no object has unknown fields, so nothing is copied before one is found.
  let copy: JsonObject | undefined;
  const keys = Object.keys(object);
  chargeKeys(keys.length);
  for (const key of keys) {
    const known = childSchema(schema, key);
    if (known === undefined) {
      if (unknown.length < MAX_REPORTED) unknown.push(pathText(child(path, key)));
      copy ??= { ...object };
      delete copy[key];
      continue;
    }
    const value = object[key] as JsonValue;
    if (known === 'anything' || typeof value !== 'object' || value === null) continue;
    const kept = prune(known, value, unknown, child(path, key));
    if (kept === value) continue;
    copy ??= { ...object };
    setOwn(copy, key, kept);
  }
  return copy ?? object;
}

/** The schema of a key; `anything` where nothing is pruned; undefined for an unknown key. */
function childSchema(schema: Schema, key: string): Schema | 'anything' | undefined {
  const declared = schema.properties?.get(key);
  if (declared !== undefined) return declared;
  if (schema.additional !== undefined) return schema.additional === true ? 'anything' : schema.additional;
  return schema.preserveUnknown === true ? 'anything' : undefined;
}
