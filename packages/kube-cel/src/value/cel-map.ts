import type { CelMapKey, CelResult, CelValue } from './cel-value.ts';
import { CelDouble, CelFailure, CelMap, CelUint, celTypeName, isJsonMap, lift } from './cel-value.ts';

/** Access to maps of both kinds: JSON objects, and maps made by an expression. */

/**
 * Normalizes a key: an int, a uint and a double with the same whole value are one key. Undefined
 * for a value that cannot be a key.
 */
export function celMapKey(value: CelValue): CelMapKey | undefined {
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return value;
  if (value instanceof CelUint) return value.value;
  if (value instanceof CelDouble && Number.isInteger(value.value)) return BigInt(value.value);
  return undefined;
}

export function isCelMap(value: CelValue): boolean {
  return value instanceof CelMap || isJsonMap(value);
}

/** undefined when the key is absent. A JSON member whose value is `undefined` is absent, `null` is present. */
export function celMapGet(map: CelValue, key: CelMapKey): CelValue | undefined {
  if (map instanceof CelMap) return map.entries.get(key);
  if (typeof key !== 'string' || !isJsonMap(map) || !Object.hasOwn(map, key)) return undefined;
  const raw = map[key];
  return raw === undefined ? undefined : lift(raw);
}

export function celMapKeys(map: CelValue): readonly CelMapKey[] {
  if (map instanceof CelMap) return [...map.entries.keys()];
  if (!isJsonMap(map)) return [];
  return Object.keys(map).filter((key) => map[key] !== undefined);
}

export function celMapSize(map: CelValue): number {
  return map instanceof CelMap ? map.entries.size : celMapKeys(map).length;
}

/**
 * Accesses a field or an index of a value whose type is known at run time only: `x.name`,
 * `x["name"]`, `x[0]`.
 */
export function celAccess(operand: CelValue, key: CelValue): CelResult {
  if (Array.isArray(operand)) return celListItem(operand, key);
  if (!isCelMap(operand)) return new CelFailure(`no such key: ${printKey(key)}`);
  const stored = celMapKey(key);
  const value = stored === undefined ? undefined : celMapGet(operand, stored);
  return value === undefined ? new CelFailure(`no such key: ${printKey(key)}`) : value;
}

function celListItem(list: readonly unknown[], key: CelValue): CelResult {
  const index = celMapKey(key);
  if (typeof index !== 'bigint') return unsupportedIndex(celTypeName(key));
  if (index < 0n || index >= BigInt(list.length)) return new CelFailure(`index out of bounds: ${index}`);
  return lift(list[Number(index)]);
}

/** The error for a list index that is not a number. */
export function unsupportedIndex(type: string): CelFailure {
  return new CelFailure(`unsupported index type '${type}' in list`);
}

function printKey(key: CelValue): string {
  const stored = celMapKey(key);
  return stored === undefined ? 'a key of this type' : String(stored);
}
