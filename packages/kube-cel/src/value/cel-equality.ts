import { celMapGet, celMapKeys, celMapSize, isCelMap } from './cel-map.ts';
import type { CelValue } from './cel-value.ts';
import {
  CelDouble,
  CelDuration,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  lift,
} from './cel-value.ts';

/** `==` of any two values: numbers compare across their types, values of different kinds are unequal, never an error. */
export function celEquals(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0;
  if (Array.isArray(a)) return Array.isArray(b) && listsEqual(a, b);
  if (isCelMap(a)) return isCelMap(b) && mapsEqual(a, b);
  return scalarObjectsEqual(a, b);
}

function scalarObjectsEqual(a: CelValue, b: CelValue): boolean {
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelOpaque) return b instanceof CelOpaque && a.typeName === b.typeName && a.equals(b);
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name;
  if (a instanceof Uint8Array)
    return b instanceof Uint8Array && a.length === b.length && a.every((byte, i) => byte === b[i]);
  if (!(a instanceof CelOptional) || !(b instanceof CelOptional)) return false;
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return celEquals(a.value, b.value);
}

function listsEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => celEquals(lift(item), lift(b[i])));
}

function mapsEqual(a: CelValue, b: CelValue): boolean {
  if (celMapSize(a) !== celMapSize(b)) return false;
  return celMapKeys(a).every((key) => {
    const left = celMapGet(a, key);
    const right = celMapGet(b, key);
    return left !== undefined && right !== undefined && celEquals(left, right);
  });
}

export type CelNumber = bigint | CelUint | CelDouble;

export function isNumber(value: CelValue): value is CelNumber {
  return typeof value === 'bigint' || value instanceof CelDouble || value instanceof CelUint;
}

/** −1, 0, 1, or NaN when one is not a number. JavaScript compares bigint with number exactly. */
export function compareNumbers(a: CelNumber, b: CelNumber): number {
  const left = typeof a === 'bigint' ? a : a.value;
  const right = typeof b === 'bigint' ? b : b.value;
  if (left < right) return -1;
  if (left > right) return 1;
  return isNaNNumber(left) || isNaNNumber(right) ? Number.NaN : 0;
}

function isNaNNumber(value: number | bigint): boolean {
  return typeof value === 'number' && Number.isNaN(value);
}
