import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { deepEqual, getOwn, isObject } from '../json/json-value.ts';
import type { Schema } from '../scheme/schema.ts';
import { spendOnKeys } from '../work/work-budget.ts';
import type { FieldSet } from './field-set.ts';
import { FieldSetBuilder } from './field-set.ts';
import { fieldSchema, isEmptyContainer, itemElement, shapeOf } from './field-shape.ts';

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

/** What changed between two objects. A container that appears or goes counts at every level, its leaves included. */
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

/** @returns what happened to the place itself */
function compare(schema: Schema, [before, after]: Pair<JsonValue>, nodes: () => Nodes): Outcome {
  if (before === after) return undefined;
  const shape = shapeOf(schema, after === undefined || after === null ? before : after);
  const bothEmpty = isEmptyContainer(before) && isEmptyContainer(after);
  if (shape === 'leaf' || bothEmpty) return compareLeaf(before, after);
  if (shape === 'map') {
    compareMaps(schema, [asObject(before), asObject(after)], nodes());
    if (replacesScalar(before, after)) return 'modified';
  } else compareLists(schema, [asList(before), asList(after)], nodes());
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : undefined;
}

function compareLeaf(before: JsonValue | undefined, after: JsonValue | undefined): Outcome {
  if (before === undefined) return after === undefined ? undefined : 'added';
  if (after === undefined) return 'removed';
  return deepEqual(before, after) ? undefined : 'modified';
}

/** Untyped places can change from a scalar or list to an object and back. */
function replacesScalar(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  const odd = (value: JsonValue | undefined): boolean =>
    value !== undefined && value !== null && !isObject(value);
  return odd(before) || odd(after);
}

const asObject = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});
const asList = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

function compareMaps(schema: Schema, [before, after]: readonly [JsonObject, JsonObject], nodes: Nodes): void {
  const visit = (key: string): void => {
    const pair = [getOwn(before, key), getOwn(after, key)] as const;
    record(`f:${key}`, nodes, (below) => compare(fieldSchema(schema, key), pair, below));
  };
  const [old, now] = [Object.keys(before), Object.keys(after)];
  spendOnKeys(old.length + now.length * STEPS_PER_KEY);
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
    record(element, nodes, (below) => {
      if (old.length <= 1 && now.length <= 1) {
        return compare(schema.items ?? { type: '' }, [old[0], now[0]], below);
      }
      return deepEqual([...old], [...now]) ? undefined : old.length === 0 ? 'added' : 'modified';
    });
  }
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

/** Runs a comparison below `element` and notes what happened to `element` itself. */
function record(element: string, nodes: Nodes, run: (below: () => Nodes) => Outcome): void {
  const outcome = run(() => ({
    added: nodes.added.at(element),
    modified: nodes.modified.at(element),
    removed: nodes.removed.at(element),
  }));
  if (outcome !== undefined) nodes[outcome].add(element);
}
