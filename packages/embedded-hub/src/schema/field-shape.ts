import {
  type JsonObject,
  type JsonValue,
  getOwn,
  isObject,
  setOwn,
  canonicalJson,
} from '../json/json-value.ts';
import { ANY_VALUE, type Schema } from './schema.ts';
import { chargeWork } from '../json/work-budget.ts';

/** Rendering a key costs more than comparing a value. */
const STEPS_PER_ELEMENT = 6;

/**
 * How field ownership treats a value: as one leaf, as a list of keyed items, or as a map of fields.
 */
export type FieldShape = 'leaf' | 'list' | 'map';

/** For untyped values, objects are maps and lists are atomic. */
export function shapeOf(schema: Schema, value: JsonValue | undefined): FieldShape {
  if (schema.type === 'object') return schema.mapType === 'atomic' ? 'leaf' : 'map';
  if (schema.type === 'array')
    return schema.listType === 'set' || schema.listType === 'map' ? 'list' : 'leaf';
  if (schema.type === '' && schema.intOrString !== true && isObject(value)) return 'map';
  return 'leaf';
}

export function fieldSchema(schema: Schema, key: string): Schema {
  const declared = schema.properties?.get(key);
  if (declared !== undefined) return declared;
  return schema.additional === undefined || schema.additional === true ? ANY_VALUE : schema.additional;
}

/** Whether the key is a declared field, not an entry of a map. */
export function isDeclared(schema: Schema, key: string): boolean {
  return schema.properties?.has(key) === true;
}

/** The path element of an item; undefined when a key is missing and has no default. A key that is null stays null. */
export function itemElement(schema: Schema, item: JsonValue): string | undefined {
  chargeWork(STEPS_PER_ELEMENT);
  if (schema.listType !== 'map') return `v:${canonicalJson(item)}`;
  const keys: JsonObject = {};
  for (const name of [...(schema.listMapKeys ?? [])].sort()) {
    const value = isObject(item) ? getOwn(item, name) : undefined;
    const key = value === undefined ? schema.items?.properties?.get(name)?.default : value;
    if (key === undefined) return undefined;
    setOwn(keys, name, key);
  }
  return `k:${canonicalJson(keys)}`;
}

export function isEmptyContainer(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
