import { deepClone, isObject, type JsonObject, type JsonValue, setOwn } from '../json/json-value.ts';
import type { Schema } from './schema.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';

/**
 * Fills in defaults and drops nulls that the schema does not allow. A null with a default becomes the default.
 * Returns the value itself when nothing changes. Source of the rule: defaulting of structural schemas.
 */
export function applyDefaults(schema: Schema, value: JsonValue): JsonValue {
  if (Array.isArray(value)) return schema.items === undefined ? value : defaultList(schema.items, value);
  return isObject(value) ? defaultObject(schema, value) : value;
}

function defaultList(items: Schema, list: JsonValue[]): JsonValue[] {
  let changed = false;
  chargeWork(list.length + 1);
  const result = list.map((item) => {
    const base =
      item === null && items.nullable !== true && items.default !== undefined ? items.default : item;
    const filled = applyDefaults(items, base === item ? item : deepClone(base));
    changed ||= filled !== item;
    return filled;
  });
  return changed ? result : list;
}

function defaultObject(schema: Schema, object: JsonObject): JsonObject {
  let copy: JsonObject | undefined;
  const set = (key: string, value: JsonValue): void => {
    copy ??= { ...object };
    setOwn(copy, key, value);
  };
  const keys = Object.keys(object);
  const declared = defaultsOf(schema);
  chargeKeys(keys.length + declared.length);
  for (const key of keys) {
    const value = object[key] as JsonValue;
    const known = schema.properties?.get(key) ?? (schema.additional === true ? undefined : schema.additional);
    if (known === undefined) continue;
    if (value === null && !acceptsNull(known)) {
      if (known.default === undefined) {
        copy ??= { ...object };
        delete copy[key];
      } else set(key, applyDefaults(known, deepClone(known.default)));
      continue;
    }
    if (typeof value !== 'object') continue;
    const filled = applyDefaults(known, value);
    if (filled !== value) set(key, filled);
  }
  for (const [key, known, value] of declared)
    if (!Object.hasOwn(object, key)) set(key, applyDefaults(known, deepClone(value)));
  return copy ?? object;
}

type Default = readonly [key: string, schema: Schema, value: JsonValue];
const defaults = new WeakMap<Schema, readonly Default[]>();

function defaultsOf(schema: Schema): readonly Default[] {
  const known = defaults.get(schema);
  if (known !== undefined) return known;
  const found = [...(schema.properties ?? [])].flatMap(([key, one]): Default[] =>
    one.default === undefined ? [] : [[key, one, one.default]],
  );
  defaults.set(schema, found);
  return found;
}

function acceptsNull(schema: Schema): boolean {
  return (
    schema.nullable === true ||
    (schema.type === '' && schema.intOrString !== true && schema.preserveUnknown === true)
  );
}
