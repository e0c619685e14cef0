import { deepEqual, getOwn, isObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { ANY_VALUE, type Schema } from '../schema/schema.ts';
import { chargeKeys } from '../json/work-budget.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { fieldSchema, isEmptyContainer, itemElement, shapeOf } from '../schema/field-shape.ts';

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const STEPS_PER_KEY = 2;

type Outcome = 'added' | 'modified' | 'removed' | undefined;

interface Nodes {
  readonly added: FieldSetBuilder;
  readonly modified: FieldSetBuilder;
  readonly removed: FieldSetBuilder;
}

/**
 * What changed between two objects. An added or removed container counts at every level, including
 * its leaves.
 */
export function compareValues(schema: Schema, before: JsonObject, after: JsonObject): Comparison {
  const nodes = {
    added: new FieldSetBuilder(),
    modified: new FieldSetBuilder(),
    removed: new FieldSetBuilder(),
  };
  compareMaps(schema, [before, after], nodes);
  return nodes;
}

type Pair<T> = readonly [T | undefined, T | undefined];

/**
 * @param nodes the field sets of the parent
 * @param element the path element of the value; field sets below it are created only if needed
 * @returns what happened to the value itself
 */
function compare(schema: Schema, [before, after]: Pair<JsonValue>, nodes: Nodes, element: string): Outcome {
  if (before === after) return undefined;
  const shape = shapeOf(schema, after === undefined || after === null ? before : after);
  if (shape === 'leaf' || (isEmptyContainer(before) && isEmptyContainer(after)))
    return compareLeaf(before, after);
  if (before === undefined && after !== undefined) {
    addFields(schema, after, nodes.added.at(element));
    return 'added';
  }
  const below = {
    added: nodes.added.at(element),
    modified: nodes.modified.at(element),
    removed: nodes.removed.at(element),
  };
  if (shape === 'map') {
    compareMaps(schema, [asObject(before), asObject(after)], below);
    if (replacesScalar(before, after)) return 'modified';
  } else compareLists(schema, [asList(before), asList(after)], below);
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : undefined;
}

/**
 * Adds all fields of a new value. Most writes are creates, so this is half of the work of
 * comparing.
 */
function addFields(schema: Schema, value: JsonValue, node: FieldSetBuilder): void {
  if (Array.isArray(value)) {
    for (const [element, items] of indexItems(schema, value)) {
      const [first] = items;
      if (items.length === 1 && first !== undefined)
        addField(schema.items ?? ANY_VALUE, first, node, element);
      else node.add(element);
    }
  } else if (isObject(value)) {
    const keys = Object.keys(value);
    chargeKeys(keys.length * STEPS_PER_KEY);
    for (const key of keys) addField(fieldSchema(schema, key), value[key] as JsonValue, node, `f:${key}`);
  }
}

function addField(schema: Schema, value: JsonValue, node: FieldSetBuilder, element: string): void {
  if (shapeOf(schema, value) !== 'leaf' && !isEmptyContainer(value))
    addFields(schema, value, node.at(element));
  node.add(element);
}

function compareLeaf(before: JsonValue | undefined, after: JsonValue | undefined): Outcome {
  if (before === undefined) return after === undefined ? undefined : 'added';
  if (after === undefined) return 'removed';
  return deepEqual(before, after) ? undefined : 'modified';
}

/** A value without a schema can change between a scalar or list and an object. */
function replacesScalar(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  const isScalarOrList = (value: JsonValue | undefined): boolean =>
    value !== undefined && value !== null && !isObject(value);
  return isScalarOrList(before) || isScalarOrList(after);
}

const asObject = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});
const asList = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

function compareMaps(schema: Schema, [before, after]: readonly [JsonObject, JsonObject], nodes: Nodes): void {
  const visit = (key: string): void => {
    const element = `f:${key}`;
    const pair = [getOwn(before, key), getOwn(after, key)] as const;
    note(compare(fieldSchema(schema, key), pair, nodes, element), nodes, element);
  };
  const [old, now] = [Object.keys(before), Object.keys(after)];
  chargeKeys(old.length + now.length * STEPS_PER_KEY);
  for (const key of old) visit(key);
  for (const key of now) if (!Object.hasOwn(before, key)) visit(key);
}

function compareLists(
  schema: Schema,
  [before, after]: readonly [readonly JsonValue[], readonly JsonValue[]],
  nodes: Nodes,
): void {
  const [left, right] = [indexItems(schema, before), indexItems(schema, after)];
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const [old, now] = [left.get(element) ?? [], right.get(element) ?? []];
    const outcome =
      old.length <= 1 && now.length <= 1
        ? compare(schema.items ?? ANY_VALUE, [old[0], now[0]], nodes, element)
        : compareMany(old, now);
    note(outcome, nodes, element);
  }
}

/** Items of a list that have the same identity. */
function compareMany(old: readonly JsonValue[], now: readonly JsonValue[]): Outcome {
  if (deepEqual([...old], [...now])) return undefined;
  return old.length === 0 ? 'added' : 'modified';
}

function indexItems(schema: Schema, list: readonly JsonValue[]): ReadonlyMap<string, readonly JsonValue[]> {
  const items = new Map<string, JsonValue[]>();
  for (const item of list) {
    const element = itemElement(schema, item);
    if (element === undefined) continue;
    const known = items.get(element);
    if (known === undefined) items.set(element, [item]);
    else known.push(item);
  }
  return items;
}

function note(outcome: Outcome, nodes: Nodes, element: string): void {
  if (outcome !== undefined) nodes[outcome].add(element);
}
