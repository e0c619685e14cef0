import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject } from '../json/json-value.ts';
import type { Schema } from '../schema/schema.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import type { FieldSet } from './field-set.ts';
import { FieldSetBuilder } from './field-set.ts';
import { fieldSchema, isDeclared, itemElement, shapeOf } from '../schema/field-shape.ts';

/**
 * The fields that an applied value sets: leaves, list items and map entries; a declared object
 * field only if it is null or empty.
 */
export function fieldsOf(schema: Schema, value: JsonObject): FieldSet {
  const root = new FieldSetBuilder();
  collectMap(schema, value, root);
  return root;
}

/** @returns whether the value itself is a leaf and therefore a member */
function collect(schema: Schema, value: JsonValue, node: FieldSetBuilder): boolean {
  const shape = shapeOf(schema, value);
  if (shape === 'leaf') return true;
  if (shape === 'map' && isObject(value)) collectMap(schema, value, node);
  if (shape === 'list' && Array.isArray(value)) collectList(schema, value, node);
  return false;
}

function collectMap(schema: Schema, object: JsonObject, node: FieldSetBuilder): void {
  const keys = Object.keys(object);
  chargeKeys(keys.length);
  for (const key of keys) {
    const value = object[key] as JsonValue;
    const element = `f:${key}`;
    const leaf = collect(fieldSchema(schema, key), value, node.at(element));
    const empty = value === null || (isObject(value) && Object.keys(value).length === 0);
    if (leaf || empty || !isDeclared(schema, key)) node.add(element);
  }
}

function collectList(schema: Schema, list: readonly JsonValue[], node: FieldSetBuilder): void {
  const items = schema.items;
  const elements = list.map((item) => itemElement(schema, item));
  const seen = new Map<string, number>();
  for (const element of elements) if (element !== undefined) seen.set(element, (seen.get(element) ?? 0) + 1);
  for (const [index, element] of elements.entries()) {
    if (element === undefined) continue;
    const item = list[index] as JsonValue;
    if (items !== undefined && seen.get(element) === 1) collect(items, item, node.at(element));
    node.add(element);
  }
}

/** The set in which every declared field that has children is a member too. */
export function withNamedFields(schema: Schema, set: FieldSet): FieldSet {
  chargeWork(set.members.size + set.children.size);
  const members = new Set(set.members);
  const children = new Map<string, FieldSet>();
  for (const [element, node] of set.children) {
    const name = element.startsWith('f:') ? element.slice(2) : undefined;
    if (name !== undefined && isDeclared(schema, name)) members.add(element);
    const below = name === undefined ? (schema.items ?? schema) : fieldSchema(schema, name);
    children.set(element, withNamedFields(below, node));
  }
  return { members, children };
}
