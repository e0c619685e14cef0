import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../json/json-value.ts';

type JsonObject = Record<string, JsonValue>;

interface Lists {
  readonly original: readonly JsonValue[];
  readonly patch: readonly JsonValue[];
}

/**
 * Merges two lists of a strategic merge patch: objects by their merge key, texts as a set. Elements
 * of the patch come in the order of the patch. An element that only the original has comes before
 * the elements of the patch that follow it in the original.
 */
export function mergeList(
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
