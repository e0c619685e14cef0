import { isDeepStrictEqual } from 'node:util';
import { type JsonValue, setKey } from '../json/json-value.ts';
import { toParamValue, goText } from '../params/params.ts';
import type { GoField, GoStruct, GoType } from '../types/go-type.ts';

export type JsonObject = Record<string, JsonValue>;

/** A patch that cannot be applied. The message is that of apimachinery. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
}

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM_LIST = '$deleteFromPrimitiveList/';
const ELEMENT_ORDER = '$setElementOrder/';

/**
 * Merges a strategic merge patch into an object of a Go type. Maps are merged by key, null removes
 * a key, and lists are merged as their field says. The directives are `$patch`, `$retainKeys`,
 * `$deleteFromPrimitiveList/FIELD` and `$setElementOrder/FIELD`. It changes copies, not the given
 * objects. Source: apimachinery pkg/util/strategicpatch/patch.go, `mergeMap`.
 * @throws PatchError
 */
export function strategicMerge(type: GoStruct, original: JsonObject, patch: JsonObject): JsonObject {
  return mergeMap(type, toParamValue(original) as JsonObject, toParamValue(patch) as JsonObject);
}

function mergeMap(type: GoType, original: JsonObject, patch: JsonObject): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return applyDirective(patch);
  retainKeys(original, patch);
  orderElements(type, original, patch);
  for (const [patchKey, value] of Object.entries(patch)) {
    const isDeletion = patchKey.startsWith(DELETE_FROM_LIST);
    const key = isDeletion ? patchKey.slice(DELETE_FROM_LIST.length) : patchKey;
    mergeField(type, original, { key, value, isDeletion });
  }
  return original;
}

interface PatchField {
  readonly key: string;
  readonly value: JsonValue;
  readonly isDeletion: boolean;
}

function mergeField(type: GoType, original: JsonObject, { key, value, isDeletion }: PatchField): void {
  if (value === null) {
    delete original[key];
    return;
  }
  const current = Object.hasOwn(original, key) ? original[key] : undefined;
  const kind = kindOf(value);
  if (current === undefined || kindOf(current) !== kind || kind === 'scalar') {
    if (!isDeletion) copyValue(original, key, value);
    return;
  }
  const field = fieldOf(type, key);
  if (kind === 'map') setKey(original, key, mergeMap(field.type, current as JsonObject, value as JsonObject));
  else {
    const lists = { original: current as readonly JsonValue[], patch: value as readonly JsonValue[] };
    if (isDeletion) setKey(original, key, deleteFrom(lists.original, lists.patch));
    else if (field.mergeKey === undefined) setKey(original, key, value);
    else
      setKey(
        original,
        key,
        mergeList(lists, field.mergeKey, (own, other) => mergeMap(elementOf(field), own, other)),
      );
  }
}

/** Copies a value that the original does not have, without nulls and directives. */
function copyValue(original: JsonObject, key: string, value: JsonValue): void {
  const kept = withoutDirectives(withoutNulls(value));
  if (kept === undefined) delete original[key];
  else setKey(original, key, kept);
}

function applyDirective(patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: directive, ...rest } = patch;
  if (directive === 'replace') return rest;
  if (directive === 'delete') return {};
  throw new PatchError(
    `unknown patch type ${goText(toParamValue(directive ?? null))} in map ${goText(toParamValue(patch))}`,
  );
}

function retainKeys(original: JsonObject, patch: JsonObject): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const retained = patch[RETAIN_KEYS];
  delete patch[RETAIN_KEYS];
  const malformed = (): PatchError => new PatchError('invalid patch format of retainKeys');
  if (!Array.isArray(retained)) throw malformed();
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || key.startsWith(DELETE_FROM_LIST) || key.startsWith(ELEMENT_ORDER)) continue;
    if (!retained.includes(key)) throw malformed();
  }
  for (const key of Object.keys(original)) if (!retained.includes(key)) delete original[key];
}

/**
 * Handles `$setElementOrder/FIELD`: merges the list of the field and sorts its elements into the
 * given order.
 */
function orderElements(type: GoType, original: JsonObject, patch: JsonObject): void {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(ELEMENT_ORDER)) continue;
    const order = patch[directive];
    delete patch[directive];
    const key = directive.slice(ELEMENT_ORDER.length);
    const value = patch[key];
    if (!Array.isArray(order) || (value !== undefined && !Array.isArray(value)))
      throw new PatchError('invalid patch format of setElementOrder list');
    if (value !== undefined) mergeField(type, original, { key, value, isDeletion: false });
    delete patch[key];
    if (!Array.isArray(original[key])) continue;
    const merged = original[key] as readonly JsonValue[];
    const indexIn = (item: JsonValue): number => order.findIndex((other) => isDeepStrictEqual(other, item));
    const ordered = merged.filter((item) => indexIn(item) >= 0).sort((a, b) => indexIn(a) - indexIn(b));
    let next = 0;
    original[key] = merged.map((item) => (indexIn(item) >= 0 ? (ordered[next++] as JsonValue) : item));
  }
}

function deleteFrom(original: readonly JsonValue[], removed: readonly JsonValue[]): readonly JsonValue[] {
  return original.filter((item) => !removed.includes(item));
}

function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value))
    return value.map((item: JsonValue) => (item === null ? null : withoutNulls(item)));
  if (value === null || typeof value !== 'object') return value;
  const kept: JsonObject = {};
  for (const [key, item] of Object.entries(value))
    if (item !== null) setKey(kept, key, withoutNulls(item as JsonValue));
  return kept;
}

/** The value without directives; undefined if the value is itself a directive. */
export function withoutDirectives(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value))
    return value.map((item: JsonValue) => withoutDirectives(item)).filter((item) => item !== undefined);
  if (value === null || typeof value !== 'object') return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const kept: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const result = withoutDirectives(item);
    if (result !== undefined) setKey(kept, key, result);
  }
  return kept;
}

function kindOf(value: JsonValue): 'map' | 'list' | 'scalar' | 'null' {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? 'map' : 'scalar';
}

/**
 * @throws PatchError if the Go type has no such field; maps in JSON that Argo CD keeps as text
 * cannot be merged
 */
function fieldOf(type: GoType, key: string): GoField {
  const struct = type.kind === 'pointer' ? type.to : type;
  if (struct.kind === 'raw')
    throw new PatchError(
      `unable to find api field in struct ${struct.name.replace(/^.*\./, '')} for the json field ${JSON.stringify(key)}`,
    );
  if (struct.kind !== 'struct')
    throw new PatchError(`merging an object in json but data type is not struct, instead is: ${struct.kind}`);
  const field = struct.byName.get(key) ?? struct.byFoldedName.get(key.toLowerCase());
  if (field !== undefined) return field;
  throw new PatchError(
    `unable to find api field in struct ${struct.shortName} for the json field ${JSON.stringify(key)}`,
  );
}

function elementOf({ type }: GoField): GoType {
  return type.kind === 'list' ? type.of : type;
}

interface Lists {
  readonly original: readonly JsonValue[];
  readonly patch: readonly JsonValue[];
}

/**
 * Merges two lists of a strategic merge patch: objects by their merge key, texts as a set. Elements
 * of the patch come in the order of the patch. An element that only the original has comes before
 * the elements of the patch that follow it in the original.
 */
function mergeList(
  { original, patch }: Lists,
  mergeKey: string,
  merge: (own: JsonObject, other: JsonObject) => JsonObject,
): readonly JsonValue[] {
  const keyOf = (item: JsonValue): JsonValue | undefined =>
    mergeKey === '' ? item : (item as JsonObject)[mergeKey];
  const merged = [...original];
  for (const item of patch) {
    const at = merged.findIndex((other) => isDeepStrictEqual(keyOf(other), keyOf(item)));
    if (at < 0) merged.push(item);
    else if (mergeKey !== '') merged[at] = merge(merged[at] as JsonObject, item as JsonObject);
  }
  const indexIn = (list: readonly JsonValue[], item: JsonValue | undefined): number =>
    item === undefined ? -1 : list.findIndex((other) => isDeepStrictEqual(keyOf(other), keyOf(item)));
  const fromPatch = merged
    .filter((item) => indexIn(patch, item) >= 0)
    .sort((a, b) => indexIn(patch, a) - indexIn(patch, b));
  const others = merged.filter((item) => indexIn(patch, item) < 0);
  const result: JsonValue[] = [];
  while (fromPatch.length > 0 || others.length > 0) {
    const otherIndex = indexIn(original, others[0]);
    const patchIndex = indexIn(original, fromPatch[0]);
    const takeOther =
      fromPatch.length === 0 ||
      (others.length > 0 && otherIndex >= 0 && patchIndex >= 0 && otherIndex < patchIndex);
    result.push((takeOther ? others.shift() : fromPatch.shift()) as JsonValue);
  }
  return result;
}
