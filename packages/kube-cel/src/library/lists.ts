import { costSize, deepTraverseCost } from '../value/cel-cost.ts';
import { celEquals, compareNumbers, isNumber } from '../value/cel-equality.ts';
import type { CelResult, CelValue } from '../value/cel-value.ts';
import { CelDouble, CelDuration, CelFailure, CelTimestamp, CelUint, lift } from '../value/cel-value.ts';
import { compareCodePoints } from '../value/code-points.ts';
import { type CelOverload, overload } from '../value/overload.ts';
import { checkedInt, checkedUint } from './operators.ts';

/** The Kubernetes list library: isSorted, sum, min, max, indexOf, lastIndexOf. */

const ORDERED = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

/** undefined: the two cannot be ordered. */
function compare(a: CelValue, b: CelValue): number | undefined {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  const times =
    (a instanceof CelTimestamp && b instanceof CelTimestamp) ||
    (a instanceof CelDuration && b instanceof CelDuration);
  if (times) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  if (a instanceof Uint8Array && b instanceof Uint8Array)
    return compareCodePoints(String.fromCharCode(...a), String.fromCharCode(...b));
  return undefined;
}

const UNORDERED = new CelFailure('no such overload: the elements cannot be ordered');

function isSorted(list: readonly unknown[]): CelResult {
  for (let i = 1; i < list.length; i++) {
    const order = compare(lift(list[i - 1]), lift(list[i]));
    if (order === undefined) return UNORDERED;
    if (order > 0) return false;
  }
  return true;
}

function extreme(name: 'min' | 'max', list: readonly unknown[]): CelResult {
  if (list.length === 0) return new CelFailure(`${name} called on empty list`);
  let best = lift(list[0]);
  for (const item of list) {
    const value = lift(item);
    const order = compare(value, best);
    if (order === undefined) return UNORDERED;
    if (name === 'min' ? order < 0 : order > 0) best = value;
  }
  return best;
}

function sum(list: readonly unknown[]): CelResult {
  let total: CelResult = 0n;
  for (const [i, item] of list.entries()) {
    total = i === 0 ? lift(item) : add(total, lift(item));
    if (total instanceof CelFailure) return total;
  }
  return total instanceof CelDuration || isNumber(total) ? total : UNORDERED;
}

function add(a: CelValue, b: CelValue): CelResult {
  if (typeof a === 'bigint' && typeof b === 'bigint') return checkedInt(a + b);
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value + b.value);
  if (a instanceof CelUint && b instanceof CelUint) return checkedUint(a.value + b.value);
  if (a instanceof CelDuration && b instanceof CelDuration) return new CelDuration(a.nanos + b.nanos);
  return new CelFailure('no such overload: sum wants elements of one summable type');
}

function indexOf(list: readonly unknown[], item: CelValue): CelResult {
  return BigInt(list.findIndex((other) => celEquals(lift(other), item)));
}

function lastIndexOf(list: readonly unknown[], item: CelValue): CelResult {
  return BigInt(list.findLastIndex((other) => celEquals(lift(other), item)));
}

/** The sum of nothing has the type of the list. */
const ZERO: Readonly<Record<string, CelValue>> = {
  int: 0n,
  uint: new CelUint(0n),
  double: new CelDouble(0),
  duration: new CelDuration(0n),
};

export const LISTS: readonly CelOverload[] = [
  ...ORDERED.flatMap((type) => [
    overload(`list<${type}>.isSorted(): bool`, isSorted, deepTraverseCost),
    overload(
      `list<${type}>.min(): ${type}`,
      (list: readonly unknown[]) => extreme('min', list),
      deepTraverseCost,
    ),
    overload(
      `list<${type}>.max(): ${type}`,
      (list: readonly unknown[]) => extreme('max', list),
      deepTraverseCost,
    ),
  ]),
  ...Object.entries(ZERO).map(([type, zero]) =>
    overload(
      `list<${type}>.sum(): ${type}`,
      (list: readonly unknown[]) => (list.length === 0 ? zero : sum(list)),
      deepTraverseCost,
    ),
  ),
  overload('list<T>.indexOf(T): int', indexOf, deepTraverseCost),
  overload('list<T>.lastIndexOf(T): int', lastIndexOf, deepTraverseCost),
];

/** Lists as sets. Source: cel-go `ext/sets.go`. */

type List = readonly unknown[];

const has = (list: List, item: unknown): boolean => list.some((one) => celEquals(lift(one), lift(item)));
const contains = (list: List, part: List): boolean => part.every((item) => has(list, item));

/** Cost of comparing each item of one list with each item of the other. */
const pairCost = ([one, other]: readonly CelValue[]): number => costSize(one) * costSize(other) + 1;
const bothWaysCost = (args: readonly CelValue[]): number => 2 * (pairCost(args) - 1) + 1;

export const SETS: readonly CelOverload[] = [
  overload('sets.contains(list<T>, list<T>): bool', contains, pairCost),
  overload(
    'sets.equivalent(list<T>, list<T>): bool',
    (one: List, other: List) => contains(one, other) && contains(other, one),
    bothWaysCost,
  ),
  overload(
    'sets.intersects(list<T>, list<T>): bool',
    (one: List, other: List) => one.some((item) => has(other, item)),
    pairCost,
  ),
];
