import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, setOwn } from '../json/json-value.ts';
import type { Schema } from '../schema/schema.ts';
import { chargeKeys } from '../json/work-budget.ts';
import { fieldSchema, isEmptyContainer, itemElement, shapeOf } from '../schema/field-shape.ts';

/**
 * Merges a configuration into a live object: its leaves replace live ones, maps and keyed lists are
 * merged.
 */
export function mergeObjects(schema: Schema, live: JsonObject, config: JsonObject): JsonObject {
  const result: JsonObject = { ...live };
  const keys = Object.keys(config);
  chargeKeys(keys.length);
  chargeKeys(Object.keys(result).length);
  for (const key of keys) {
    const merged = mergeValue(fieldSchema(schema, key), getOwn(live, key), config[key] as JsonValue);
    setOwn(result, key, merged);
  }
  return result;
}

function mergeValue(schema: Schema, live: JsonValue | undefined, config: JsonValue): JsonValue {
  const shape = shapeOf(schema, config === null ? live : config);
  if (shape === 'leaf' || live === undefined || (isEmptyContainer(live) && isEmptyContainer(config)))
    return config;
  if (config === null) return live;
  if (shape === 'map')
    return isObject(live) && isObject(config) ? mergeObjects(schema, live, config) : config;
  return Array.isArray(live) && Array.isArray(config) ? mergeLists(schema, live, config) : config;
}

interface Items {
  readonly elements: readonly string[];
  /** First index of each element. */
  readonly first: ReadonlyMap<string, number>;
  /** Items whose key occurs once; an item is not merged with duplicates in the live list. */
  readonly unique: ReadonlyMap<string, JsonValue>;
}

function indexed(schema: Schema, list: readonly JsonValue[]): Items {
  const elements = list.map((item, index) => itemElement(schema, item) ?? `i:${String(index)}`);
  const first = new Map<string, number>();
  const unique = new Map<string, JsonValue>();
  for (const [index, element] of elements.entries()) {
    if (first.has(element)) unique.delete(element);
    else {
      first.set(element, index);
      unique.set(element, list[index] as JsonValue);
    }
  }
  return { elements, first, unique };
}

/**
 * Merges two lists with two pointers: common items in the order of the configuration; live-only
 * items stay before their next common item.
 */
function mergeLists(schema: Schema, live: readonly JsonValue[], config: readonly JsonValue[]): JsonValue[] {
  const [left, right] = [indexed(schema, live), indexed(schema, config)];
  const shared = right.elements.filter((element) => left.first.has(element));
  let nextShared = 0;
  const merged = new Set<string>();
  const result: JsonValue[] = [];
  const items = schema.items ?? { type: '' };
  const pushMerged = (element: string): void => {
    merged.add(element);
    if (shared[nextShared] === element) nextShared += 1;
    const index = right.first.get(element) ?? 0;
    result.push(mergeValue(items, left.unique.get(element), config[index] as JsonValue));
  };
  let l = 0;
  let r = 0;
  while (l < left.elements.length || r < right.elements.length) {
    const [liveElement, configElement] = [left.elements[l], right.elements[r]];
    if (liveElement !== undefined && configElement !== undefined) {
      if (liveElement === configElement) {
        pushMerged(configElement);
        l += 1;
        r += 1;
        continue;
      }
      const nextSharedElement = shared[nextShared];
      if (
        right.first.has(liveElement) &&
        nextSharedElement !== undefined &&
        nextSharedElement !== liveElement
      ) {
        l += 1;
        continue;
      }
    }
    if (liveElement !== undefined && !right.first.has(liveElement)) {
      result.push(live[l] as JsonValue);
      l += 1;
      continue;
    }
    if (liveElement !== undefined && merged.has(liveElement)) l += 1;
    if (configElement !== undefined) {
      pushMerged(configElement);
      r += 1;
    }
  }
  return result;
}
