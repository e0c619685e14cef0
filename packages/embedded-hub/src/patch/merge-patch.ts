import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, setOwn } from '../json/json-value.ts';
import { badRequest } from '../wire/status-errors.ts';
import { chargeKeys } from '../json/work-budget.ts';

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
