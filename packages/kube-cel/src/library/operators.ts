import { celEquals, type CelNumber, compareNumbers } from '../value/cel-equality.ts';
import { compareCost, concatCost, inListCost } from '../value/cel-cost.ts';
import { celMapGet, celMapKey } from '../value/cel-map.ts';
import type { CelResult, CelValue } from '../value/cel-value.ts';
import {
  CelDouble,
  CelDuration,
  CelFailure,
  CelTimestamp,
  CelUint,
  lift,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
} from '../value/cel-value.ts';
import { compareCodePoints } from '../value/code-points.ts';
import { type CelOverload, overload } from '../value/overload.ts';

const OVERFLOW = new CelFailure('integer overflow');
const DIVISION_BY_ZERO = new CelFailure('division by zero');

export function checkedInt(value: bigint): CelResult {
  return value > MAX_INT || value < MIN_INT ? OVERFLOW : value;
}

export function checkedUint(value: bigint): CelResult {
  return value > MAX_UINT || value < 0n ? OVERFLOW : new CelUint(value);
}

type IntOperation = (a: bigint, b: bigint) => bigint;

function arithmetic(operator: string, ints: IntOperation, doubles?: (a: number, b: number) => number) {
  const divides = operator === '/' || operator === '%';
  const apply = (a: bigint, b: bigint, check: (value: bigint) => CelResult): CelResult =>
    divides && b === 0n ? DIVISION_BY_ZERO : check(ints(a, b));
  const name = `_${operator}_`;
  const overloads = [
    overload(`${name}(int, int): int`, (a: bigint, b: bigint) => apply(a, b, checkedInt)),
    overload(`${name}(uint, uint): uint`, (a: CelUint, b: CelUint) => apply(a.value, b.value, checkedUint)),
  ];
  if (doubles !== undefined)
    overloads.push(
      overload(
        `${name}(double, double): double`,
        (a: CelDouble, b: CelDouble) => new CelDouble(doubles(a.value, b.value)),
      ),
    );
  return overloads;
}

const TEXT_AND_TIME: readonly CelOverload[] = [
  overload('_+_(string, string): string', (a: string, b: string) => a + b, concatCost),
  overload(
    '_+_(bytes, bytes): bytes',
    (a: Uint8Array, b: Uint8Array) => Uint8Array.from([...a, ...b]),
    concatCost,
  ),
  overload('_+_(list<T>, list<T>): list<T>', (a: readonly unknown[], b: readonly unknown[]) => [...a, ...b]),
  overload(
    '_+_(duration, duration): duration',
    (a: CelDuration, b: CelDuration) => new CelDuration(a.nanos + b.nanos),
  ),
  overload(
    '_+_(timestamp, duration): timestamp',
    (a: CelTimestamp, b: CelDuration) => new CelTimestamp(a.nanos + b.nanos),
  ),
  overload(
    '_+_(duration, timestamp): timestamp',
    (a: CelDuration, b: CelTimestamp) => new CelTimestamp(a.nanos + b.nanos),
  ),
  overload(
    '_-_(duration, duration): duration',
    (a: CelDuration, b: CelDuration) => new CelDuration(a.nanos - b.nanos),
  ),
  overload(
    '_-_(timestamp, timestamp): duration',
    (a: CelTimestamp, b: CelTimestamp) => new CelDuration(a.nanos - b.nanos),
  ),
  overload(
    '_-_(timestamp, duration): timestamp',
    (a: CelTimestamp, b: CelDuration) => new CelTimestamp(a.nanos - b.nanos),
  ),
];

const UNARY: readonly CelOverload[] = [
  overload('!_(bool): bool', (a: boolean) => !a),
  overload('-_(int): int', (a: bigint) => checkedInt(-a)),
  overload('-_(double): double', (a: CelDouble) => new CelDouble(-a.value)),
];

const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};
const compareTimes = (a: { readonly nanos: bigint }, b: { readonly nanos: bigint }): number =>
  a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;

function ordering(operator: string, holds: (order: number) => boolean): CelOverload[] {
  const name = `_${operator}_`;
  const numeric = ['int', 'uint', 'double'];
  const numbers = numeric.flatMap((a) =>
    numeric.map((b) =>
      overload(`${name}(${a}, ${b}): bool`, (x: CelNumber, y: CelNumber) => holds(compareNumbers(x, y))),
    ),
  );
  return [
    ...numbers,
    overload(
      `${name}(string, string): bool`,
      (a: string, b: string) => holds(compareCodePoints(a, b)),
      compareCost,
    ),
    overload(`${name}(bool, bool): bool`, (a: boolean, b: boolean) => holds(Number(a) - Number(b))),
    overload(
      `${name}(bytes, bytes): bool`,
      (a: Uint8Array, b: Uint8Array) => holds(compareBytes(a, b)),
      compareCost,
    ),
    overload(`${name}(timestamp, timestamp): bool`, (a: CelTimestamp, b: CelTimestamp) =>
      holds(compareTimes(a, b)),
    ),
    overload(`${name}(duration, duration): bool`, (a: CelDuration, b: CelDuration) =>
      holds(compareTimes(a, b)),
    ),
  ];
}

const EQUALITY: readonly CelOverload[] = [
  overload('_==_(T, T): bool', (a: CelValue, b: CelValue) => celEquals(a, b), compareCost),
  overload('_!=_(T, T): bool', (a: CelValue, b: CelValue) => !celEquals(a, b), compareCost),
  overload(
    '@in(T, list<T>): bool',
    (item: CelValue, list: readonly unknown[]) => list.some((other) => celEquals(item, lift(other))),
    inListCost,
  ),
  overload('@in(K, map<K, V>): bool', (key: CelValue, map: CelValue) => {
    const stored = celMapKey(key);
    return stored !== undefined && celMapGet(map, stored) !== undefined;
  }),
];

/** The operators of the language, except those that need not evaluate all operands (`&&`, `||`, `?:`). */
export const OPERATORS: readonly CelOverload[] = [
  ...arithmetic(
    '+',
    (a, b) => a + b,
    (a, b) => a + b,
  ),
  ...arithmetic(
    '-',
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  ...arithmetic(
    '*',
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  ...arithmetic(
    '/',
    (a, b) => a / b,
    (a, b) => a / b,
  ),
  ...arithmetic('%', (a, b) => a % b),
  ...TEXT_AND_TIME,
  ...UNARY,
  ...ordering('<', (order) => order < 0),
  ...ordering('<=', (order) => order <= 0),
  ...ordering('>', (order) => order > 0),
  ...ordering('>=', (order) => order >= 0),
  ...EQUALITY,
];
