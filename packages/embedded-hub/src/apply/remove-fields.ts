import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject, setOwn } from '../json/json-value.ts';
import type { Schema } from '../schema/schema.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import type { FieldSet } from './field-set.ts';
import { fieldSchema, itemElement, shapeOf } from '../schema/field-shape.ts';

/**
 * The object without the members of `gone`. A container whose fields are all removed stays as an
 * empty one, unless it is a member itself.
 */
export function removeFields(schema: Schema, object: JsonObject, gone: FieldSet): JsonObject {
  if (gone.members.size === 0 && gone.children.size === 0) return object;
  const result: JsonObject = {};
  const keys = Object.keys(object);
  chargeKeys(keys.length);
  for (const key of keys) {
    const element = `f:${key}`;
    if (gone.members.has(element)) continue;
    const below = gone.children.get(element);
    const value = object[key] as JsonValue;
    setOwn(result, key, below === undefined ? value : removeBelow(fieldSchema(schema, key), value, below));
  }
  return result;
}

function removeBelow(schema: Schema, value: JsonValue, gone: FieldSet): JsonValue {
  const shape = shapeOf(schema, value);
  if (shape === 'map' && isObject(value)) return removeFields(schema, value, gone);
  if (shape === 'list' && Array.isArray(value)) return removeItems(schema, value, gone);
  return value;
}

function removeItems(schema: Schema, list: readonly JsonValue[], gone: FieldSet): JsonValue[] {
  const result: JsonValue[] = [];
  chargeWork(list.length);
  for (const item of list) {
    const element = itemElement(schema, item);
    if (element !== undefined && gone.members.has(element)) continue;
    const below = element === undefined ? undefined : gone.children.get(element);
    result.push(
      below === undefined || schema.items === undefined ? item : removeBelow(schema.items, item, below),
    );
  }
  return result;
}
