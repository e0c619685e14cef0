import { jsonEqual, canonicalJson as canonicalText } from '@berth/runtime/json/json-equal';
import {
  getOwn,
  isObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  setOwn,
  textAt,
  withoutKey,
} from '@berth/runtime/json/json-value';
import { chargeKeys, chargeWork } from './work-budget.ts';

/** Sorting a key costs more than reading it. */
const STEPS_PER_KEY = 3;

const SORTED_WITHIN_BUDGET = {
  sort: (keys: string[]) => keys.sort(),
  spend: (count: number, isList: boolean): void => chargeWork(isList ? count : count * STEPS_PER_KEY),
};

/** Keys may be hostile (`__proto__`, `constructor`): read with `getOwn`, write with `setOwn`. */
export type { JsonObject, JsonValue };
export { getOwn, isObject, listAt, objectAt, setOwn, textAt, withoutKey };

/** The number under `key`, or undefined when it is absent or something else. */
export function numberAt(object: JsonObject | undefined, key: string): number | undefined {
  const value = object === undefined ? undefined : getOwn(object, key);
  return typeof value === 'number' ? value : undefined;
}

/** The strings in the list under `key`. */
export function textsAt(object: JsonObject | undefined, key: string): readonly string[] {
  return listAt(object, key).filter((one) => typeof one === 'string');
}

export function deepClone<T extends JsonValue>(value: T): T {
  if (Array.isArray(value)) {
    chargeWork(value.length + 1);
    return value.map((item) => deepClone(item)) as T;
  }
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  const keys = Object.keys(value);
  chargeKeys(keys.length);
  for (const key of keys) setOwn(copy, key, deepClone(value[key] as JsonValue));
  return copy as T;
}

/** Equal as JSON: key order does not matter, list order does. Spends the work budget of the request. */
export function deepEqual(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return jsonEqual(left, right, spendOnEntries);
}

function spendOnEntries(count: number, isList: boolean): void {
  if (isList) chargeWork(count + 1);
  else chargeKeys(count);
}

/**
 * Appends to a list. `list.push(...more)` hands every item over as an argument, which overflows the stack from about a hundred
 * thousand on; lists that come from a request can be that long.
 */
export function appendAll<T>(list: T[], more: readonly T[]): void {
  for (const item of more) list.push(item);
}

/**
 * JSON with all keys sorted by their text, on the work budget of the request: equal values have equal texts. The order is that of Go's
 * encoding/json, because the texts are keys of managedFields, which clients read and the log keeps.
 */
export function canonicalJson(value: JsonValue): string {
  return canonicalText(value, SORTED_WITHIN_BUDGET);
}
