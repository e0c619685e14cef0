import {
  deepEqual,
  getOwn,
  objectAt,
  textAt,
  type JsonObject,
  type JsonValue,
  isObject,
  setOwn,
} from '../json/json-value.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import { fieldSchema, isEmptyContainer, itemElement, shapeOf, isDeclared } from '../schema/field-shape.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';
import { badRequest } from '../wire/status-errors.ts';
import { checkConfig } from './check-config.ts';
import {
  isEmptySet,
  type FieldSet,
  difference,
  intersection,
  union,
  unionOfAll,
  FieldSetBuilder,
} from './field-set.ts';
import {
  type ManagedEntry,
  type Managers,
  decodeManagers,
  encodeManagers,
  identityOf,
  withoutManagedFields,
} from './managed-fields.ts';
import {
  type OwnershipRequest,
  findConflicts,
  managerOf,
  removeFromOtherManagers,
  refuseTooManyManagers,
  applyConflict,
  ownableSet,
  withoutServerFields,
} from './ownership.ts';
import { emptyObject, updatedManagers } from './track-update.ts';
import { VersionedChanges, inVersion, versionOfManager } from './versioned-changes.ts';

export interface ApplyRequest extends OwnershipRequest {
  /** Takes fields over instead of reporting conflicts. */
  readonly force: boolean;
}

/**
 * Server-side apply: merges the configuration into the live object, removes fields that the manager
 * no longer applies, and computes the new ownership. Throws 409 when the configuration changes
 * fields of others (unless forced), 400 when it does not fit the schema.
 * @param live undefined on create
 * @param config the configuration as sent; fields that the endpoint cannot write are ignored
 * @returns the merged object, before defaulting
 */
export function serverSideApply(
  request: ApplyRequest,
  live: JsonObject | undefined,
  config: JsonObject,
): JsonObject {
  if (Object.hasOwn(objectAt(config, 'metadata') ?? {}, 'managedFields')) {
    throw badRequest('metadata.managedFields must be nil');
  }
  checkConfig(request.ref, config);
  const schema = request.ref.version.schema;
  const sent = writablePart(request, config);
  const base = live === undefined ? emptyObject(request) : withoutManagedFields(live);
  const known = startingManagers(request, live, base);
  const manager = managerOf(request, 'Apply');
  const own = identityOf(manager);
  const former = known.get(own);
  const set = ownableSet(request.ref, request.subresource, fieldsOf(schema, sent));
  const managers = new Map<string, ManagedEntry>(known);
  managers.set(own, { ...manager, time: former?.time, set });
  refuseTooManyManagers(request, config, { count: managers.size, before: known.size });
  const merged = mergeObjects(schema, base, sent);
  const object = pruneUnapplied(request, merged, former, managers);
  const changes = new VersionedChanges(request, base, object);
  const conflicts = findConflicts(managers, own, changes);
  if (conflicts.length > 0 && !request.force) throw applyConflict(conflicts);
  const result = removeFromOtherManagers(managers, own, changes);
  const owned = withoutServerFields(set);
  if (isEmptySet(owned)) result.delete(own);
  else {
    // As in the API server, a configuration that changes nothing sets no time, even the first one
    // of a manager.
    const time = deepEqual(base, object) ? former?.time : request.now;
    result.set(own, { ...manager, time, set: owned });
  }
  return encodeManagers(object, result);
}

/** The status endpoint reads only status, the main endpoint never reads it. */
function writablePart(request: ApplyRequest, config: JsonObject): JsonObject {
  const { subresource, ref } = request;
  if (subresource === 'status') {
    const status = getOwn(config, 'status');
    return status === undefined ? {} : { status };
  }
  if (!ref.version.subresources.status) return config;
  const rest = { ...config };
  delete rest['status'];
  return rest;
}

/** The managers of an object without managedFields: its last writer owns everything. */
function startingManagers(request: ApplyRequest, live: JsonObject | undefined, base: JsonObject): Managers {
  const known = live === undefined ? undefined : decodeManagers(live);
  if (known !== undefined && known.size > 0) return known;
  if (live === undefined || textAt(objectAt(live, 'metadata'), 'uid') === '') return new Map();
  return updatedManagers({ ...request, manager: 'before-first-apply' }, new Map(), [
    emptyObject(request),
    base,
  ]);
}

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
function withNamedFields(schema: Schema, set: FieldSet): FieldSet {
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

/**
 * Merges a configuration into a live object: its leaves replace live ones, maps and keyed lists are
 * merged.
 */
function mergeObjects(schema: Schema, live: JsonObject, config: JsonObject): JsonObject {
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

/**
 * Removes fields that the manager applied before and no longer applies, unless another manager owns
 * them. Each manager is evaluated in the version that it wrote. Source: structured-merge-diff
 * `merge/update.go` (prune).
 * @param merged the live object merged with the new configuration
 * @param former the fields that the manager applied before
 * @param managers all managers, with the new configuration as sent (including metadata.name, which
 * would be removed otherwise)
 */
function pruneUnapplied(
  request: OwnershipRequest,
  merged: JsonObject,
  former: ManagedEntry | undefined,
  managers: Managers,
): JsonObject {
  const last = former === undefined ? undefined : versionOfManager(request, former);
  if (former === undefined || last === undefined || isEmptySet(former.set)) return merged;
  const { schema } = last.version;
  const mergedInLast = inVersion(request, merged, last);
  const lastNamed = withNamedFields(schema, former.set);
  let kept = removeFields(schema, mergedInLast, lastNamed);
  for (const { ref, owned } of ownedByVersion(request, managers, last)) {
    const schemaOfOwner = ref.version.schema;
    const [all, remaining] = [inVersion(request, mergedInLast, ref), inVersion(request, kept, ref)];
    const named = withNamedFields(schemaOfOwner, owned);
    kept = removeFields(
      schemaOfOwner,
      all,
      difference(namedFields(schemaOfOwner, all), union(namedFields(schemaOfOwner, remaining), named)),
    );
  }
  const removed = difference(
    namedFields(schema, mergedInLast),
    namedFields(schema, inVersion(request, kept, last)),
  );
  const pruned = removeFields(schema, mergedInLast, intersection(removed, lastNamed));
  return inVersion(request, pruned, request.ref);
}

function namedFields(schema: Schema, object: JsonObject): FieldSet {
  return withNamedFields(schema, fieldsOf(schema, object));
}

interface Owned {
  readonly ref: ResourceRef;
  readonly owned: FieldSet;
}

/** The union of the fields of all managers by version, starting with the version `first`. */
function ownedByVersion(request: OwnershipRequest, managers: Managers, first: ResourceRef): readonly Owned[] {
  const sets = new Map<ResourceRef['version'], { readonly ref: ResourceRef; readonly sets: FieldSet[] }>();
  sets.set(first.version, { ref: first, sets: [] });
  for (const manager of managers.values()) {
    const ref = versionOfManager(request, manager);
    if (ref === undefined) continue;
    const known = sets.get(ref.version) ?? { ref, sets: [] };
    known.sets.push(manager.set);
    sets.set(ref.version, known);
  }
  return [...sets.values()].map(({ ref, sets: own }) => ({ ref, owned: unionOfAll(own) }));
}

/**
 * The object without the members of `gone`. A container whose fields are all removed stays as an
 * empty one, unless it is a member itself.
 */
function removeFields(schema: Schema, object: JsonObject, gone: FieldSet): JsonObject {
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
