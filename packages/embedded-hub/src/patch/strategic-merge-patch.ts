import {
  canonicalJson,
  getOwn,
  isObject,
  type JsonObject,
  type JsonValue,
  setOwn,
} from '../json/json-value.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import type { Schema } from '../schema/schema.ts';
import { quotedValue } from '../schema/text/quoted-value.ts';
import { badRequest } from '../wire/status-errors.ts';

export function applyStrategicMergePatch(schema: Schema, object: JsonObject, patch: JsonValue): JsonObject {
  if (!isObject(patch))
    throw badRequest('error decoding patch: a strategic merge patch of an object is an object');
  return mergeObject(schema, object, patch);
}

/*
 * Strategic merge patch of Kubernetes' own kinds. Like a merge patch, but lists with a merge key are merged item by item, and directives
 * change the rules: `$patch: replace|delete|merge`, `$retainKeys`, `$deleteFromPrimitiveList/FIELD`, `$setElementOrder/FIELD`.
 */
const PATCH = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const ELEMENT_ORDER = '$setElementOrder/';

function mergeObject(schema: Schema | undefined, target: JsonObject, patch: JsonObject): JsonObject {
  const directive = getOwn(patch, PATCH);
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') {
    throw badRequest(`unknown patch type found in map: ${quotedValue(directive)}`);
  }
  const result = retainKeys(target, patch);
  const before = target;
  const keys = Object.keys(patch);
  chargeKeys(keys.length);
  chargeKeys(Object.keys(result).length);
  for (const key of keys) {
    const value = patch[key] as JsonValue;
    if (key === PATCH || key === RETAIN_KEYS || key.startsWith(ELEMENT_ORDER) || key.startsWith(DELETE_FROM))
      continue;
    if (value === null) {
      delete result[key];
      continue;
    }
    setOwn(result, key, mergeField(childSchema(schema, key), getOwn(result, key), value));
  }
  applyDeletions(result, patch);
  applyElementOrder(schema, { result, before, patch });
  return result;
}

function childSchema(schema: Schema | undefined, key: string): Schema | undefined {
  return schema?.properties?.get(key) ?? (schema?.additional === true ? undefined : schema?.additional);
}

function mergeField(schema: Schema | undefined, current: JsonValue | undefined, value: JsonValue): JsonValue {
  const strategy = schema?.patchStrategy ?? [];
  if (isObject(value)) {
    if (strategy.includes('replace')) return withoutDirectives(value);
    return mergeObject(schema, isObject(current) ? current : {}, value);
  }
  if (!Array.isArray(value)) return value;
  const list = Array.isArray(current) ? current : [];
  if (!strategy.includes('merge')) return value.map(withoutDirectivesIn);
  const key = schema?.patchMergeKey;
  if (key === undefined) {
    return orderMergedList(unionOf(list, value), { mergeKey: undefined, patch: value, server: list });
  }
  return mergeList({ key, item: schema?.items }, list, value);
}

/** `$retainKeys` of a union: removes the keys that it does not name. */
function retainKeys(target: JsonObject, patch: JsonObject): JsonObject {
  const retained = getOwn(patch, RETAIN_KEYS);
  if (retained === undefined) return { ...target };
  if (!Array.isArray(retained))
    throw badRequest('invalid patch format of retainKeys: expected a list of field names');
  const result: JsonObject = {};
  const names = new Set(retained);
  for (const key of Object.keys(target)) if (names.has(key)) setOwn(result, key, target[key] as JsonValue);
  return result;
}

function unionOf(list: readonly JsonValue[], added: readonly JsonValue[]): JsonValue[] {
  const result = [...list];
  const known = identitiesOf(list);
  for (const item of added) {
    const identity = itemIdentity(undefined, item);
    if (known.has(identity)) continue;
    known.add(identity);
    result.push(item);
  }
  return result;
}

function identitiesOf(list: readonly JsonValue[]): Set<string> {
  return new Set(list.map((item) => itemIdentity(undefined, item)));
}

interface KeyedList {
  readonly key: string;
  readonly item: Schema | undefined;
}

function mergeList(schema: KeyedList, list: readonly JsonValue[], patch: readonly JsonValue[]): JsonValue[] {
  const items = patch.filter(isObject);
  if (items.length !== patch.length)
    throw badRequest('invalid patch: every item of a keyed list is an object');
  if (items.some((item) => isReplacement(item))) {
    return items.filter((item) => !isReplacement(item)).map((item) => withoutDirectives(item));
  }
  const result = new KeyedItems(schema.key, list);
  for (const item of items) {
    if (getOwn(item, schema.key) === undefined)
      throw badRequest(`map: ${quotedValue(item)} does not contain declared merge key: ${schema.key}`);
    if (getOwn(item, PATCH) === 'delete') result.remove(item);
    else result.merge(item, (known) => mergeObject(schema.item, known, item));
  }
  const named = items.filter((item) => getOwn(item, PATCH) !== 'delete');
  return orderMergedList(result.items(), { mergeKey: schema.key, patch: named, server: list });
}

/** `[{$patch: replace}, ...]`: the rest of the list is the new list. */
function isReplacement(item: JsonObject): boolean {
  return getOwn(item, PATCH) === 'replace' && Object.keys(item).length === 1;
}

function applyDeletions(result: JsonObject, patch: JsonObject): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(DELETE_FROM)) continue;
    const field = key.slice(DELETE_FROM.length);
    const [deleted, list, added] = [patch[key] as JsonValue, getOwn(result, field), getOwn(patch, field)];
    if (!Array.isArray(deleted)) throw badRequest(`invalid patch: ${key} is a list of values`);
    if (!Array.isArray(list)) continue;
    const [removed, kept] = [identitiesOf(deleted), identitiesOf(Array.isArray(added) ? added : [])];
    const stays = (identity: string): boolean => !removed.has(identity) || kept.has(identity);
    setOwn(
      result,
      field,
      list.filter((item) => stays(itemIdentity(undefined, item))),
    );
  }
}

interface OrderedFields {
  readonly result: JsonObject;
  readonly before: JsonObject;
  readonly patch: JsonObject;
}

function applyElementOrder(schema: Schema | undefined, { result, before, patch }: OrderedFields): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(ELEMENT_ORDER)) continue;
    const field = key.slice(ELEMENT_ORDER.length);
    const [order, list, server] = [patch[key] as JsonValue, getOwn(result, field), getOwn(before, field)];
    if (!Array.isArray(order)) throw badRequest(`invalid patch: ${key} is a list`);
    if (!Array.isArray(list)) continue;
    const mergeKey = childSchema(schema, field)?.patchMergeKey;
    setOwn(
      result,
      field,
      orderMergedList(list, { mergeKey, patch: order, server: Array.isArray(server) ? server : [] }),
    );
  }
}

function withoutDirectivesIn(value: JsonValue): JsonValue {
  return isObject(value) ? withoutDirectives(value) : value;
}

/** The value of a patch where there is nothing to merge: without directives and removals. */
function withoutDirectives(patch: JsonObject): JsonObject {
  const result: JsonObject = {};
  const keys = Object.keys(patch);
  chargeKeys(keys.length);
  for (const key of keys) {
    const value = patch[key] as JsonValue;
    if (key === PATCH || key === RETAIN_KEYS || key.startsWith(ELEMENT_ORDER) || key.startsWith(DELETE_FROM))
      continue;
    if (value !== null)
      setOwn(result, key, Array.isArray(value) ? value.map(withoutDirectivesIn) : withoutDirectivesIn(value));
  }
  return result;
}

/** Inputs of the order of a merged list. */
interface ListOrder {
  /** Undefined for lists of plain values. */
  readonly mergeKey: string | undefined;
  /** Items of the patch, or of its `$setElementOrder`. */
  readonly patch: readonly JsonValue[];
  /** The list before the patch. */
  readonly server: readonly JsonValue[];
}

/** What identifies items of a merged list: equal texts for equal keys (plain values: for equal values), '' without a key. */
function itemIdentity(mergeKey: string | undefined, item: JsonValue): string {
  chargeWork(1);
  const key = mergeKey !== undefined && isObject(item) ? getOwn(item, mergeKey) : item;
  return key === undefined ? '' : canonicalJson(key);
}

/** An item, and its index in the patch and in the list before it; -1 where it is absent. */
interface Placed {
  readonly item: JsonValue;
  readonly inPatch: number;
  readonly inServer: number;
}

/**
 * Items of the patch have the order of the patch. Each other item is placed before the first item
 * of the patch that followed it in the live list. New items are first. Source of the rule:
 * strategic merge patch.
 */
function orderMergedList(merged: readonly JsonValue[], order: ListOrder): JsonValue[] {
  const [patch, server] = [positions(order.mergeKey, order.patch), positions(order.mergeKey, order.server)];
  const placed = merged.map((item): Placed => {
    const identity = itemIdentity(order.mergeKey, item);
    return { item, inPatch: patch.get(identity) ?? -1, inServer: server.get(identity) ?? -1 };
  });
  const named = placed.filter(({ inPatch }) => inPatch >= 0).sort((a, b) => a.inPatch - b.inPatch);
  const others = placed.filter(({ inPatch }) => inPatch < 0).sort((a, b) => a.inServer - b.inServer);
  const result: JsonValue[] = [];
  let [nextOther, nextNamed] = [0, 0];
  while (nextOther < others.length || nextNamed < named.length) {
    const [other, name] = [others[nextOther], named[nextNamed]];
    if (other !== undefined && (name === undefined || precedes(other, name))) {
      result.push(other.item);
      nextOther += 1;
    } else if (name !== undefined) {
      result.push(name.item);
      nextNamed += 1;
    }
  }
  return result;
}

function precedes(other: Placed, name: Placed): boolean {
  return other.inServer >= 0 && name.inServer >= 0 && other.inServer < name.inServer;
}

/** Index of the first item of every identity. */
function positions(mergeKey: string | undefined, list: readonly JsonValue[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const identity = itemIdentity(mergeKey, item);
    if (!found.has(identity)) found.set(identity, index);
  }
  return found;
}

/** A list that is merged item by item, with an index by merge key. */
class KeyedItems {
  readonly #mergeKey: string;
  /** Undefined where an item was removed. */
  readonly #items: (JsonValue | undefined)[];
  /** Indexes of the items of one key, in order. */
  readonly #indexes = new Map<string, number[]>();

  constructor(mergeKey: string, list: readonly JsonValue[]) {
    this.#mergeKey = mergeKey;
    this.#items = [...list];
    for (const [index, item] of list.entries()) if (isObject(item)) this.#addIndex(item, index);
  }

  /** Merges into the first item with the same key, or appends the merge with an empty item. */
  merge(item: JsonObject, merged: (known: JsonObject) => JsonObject): void {
    const first = this.#indexes.get(itemIdentity(this.#mergeKey, item))?.[0];
    if (first !== undefined) {
      this.#items[first] = merged(this.#items[first] as JsonObject);
      return;
    }
    this.#addIndex(item, this.#items.length);
    this.#items.push(merged({}));
  }

  /** Removes every item with the same key. */
  remove(item: JsonObject): void {
    const identity = itemIdentity(this.#mergeKey, item);
    for (const index of this.#indexes.get(identity) ?? []) this.#items[index] = undefined;
    this.#indexes.delete(identity);
  }

  items(): JsonValue[] {
    return this.#items.filter((item) => item !== undefined);
  }

  #addIndex(item: JsonObject, index: number): void {
    const identity = itemIdentity(this.#mergeKey, item);
    const known = this.#indexes.get(identity);
    if (known === undefined) this.#indexes.set(identity, [index]);
    else known.push(index);
  }
}

/** RFC 7386 on a whole object: null removes, objects merge, everything else replaces. The input is not changed. */
export function applyMergePatch(object: JsonObject, patch: JsonValue): JsonObject {
  if (!isObject(patch)) throw badRequest('error decoding patch: a merge patch of an object is an object');
  return mergeObjects(object, patch);
}

function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = { ...target };
  const keys = Object.keys(patch);
  chargeKeys(keys.length);
  chargeKeys(Object.keys(result).length);
  for (const key of keys) {
    const value = patch[key] as JsonValue;
    if (value === null) {
      delete result[key];
      continue;
    }
    const current = getOwn(result, key);
    if (isObject(value)) setOwn(result, key, mergeObjects(isObject(current) ? current : {}, value));
    else setOwn(result, key, value);
  }
  return result;
}
