import { utf8LengthBytes } from '@berth/runtime/text/utf8';
import { celMapSize } from '../value/cel-map.ts';
import { traverseCost } from '../value/cel-cost.ts';
import type { CelResult, CelValue, CelDuration, CelTimestamp } from '../value/cel-value.ts';
import {
  CelDouble,
  CelFailure,
  CelTypeValue,
  CelUint,
  celTypeName,
  MAX_INT,
  MAX_UINT,
} from '../value/cel-value.ts';
import { codePointCount } from '../value/code-points.ts';
import { type CelOverload, overload } from '../value/overload.ts';
import { checkedInt, checkedUint } from './operators.ts';
import { formatDuration, formatTimestamp } from './time.ts';

const OVERFLOW = new CelFailure('integer overflow');
const NANOS = 1_000_000_000n;

function parseInteger(text: string, type: 'int' | 'uint'): bigint | CelFailure {
  const pattern = type === 'int' ? /^[+-]?\d+$/ : /^\d+$/;
  if (!pattern.test(text) || text.length > 40)
    return new CelFailure(`type conversion error from 'string' to '${type}'`);
  return BigInt(text.startsWith('+') ? text.slice(1) : text);
}

function intOf(text: string): CelResult {
  const value = parseInteger(text, 'int');
  return value instanceof CelFailure ? value : checkedInt(value);
}

function uintOf(text: string): CelResult {
  const value = parseInteger(text, 'uint');
  return value instanceof CelFailure ? value : checkedUint(value);
}

function doubleOf(text: string): CelResult {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2]?.toLowerCase() === 'nan') return new CelDouble(Number.NaN);
    return new CelDouble(special[1] === '-' ? -Infinity : Infinity);
  }
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text))
    return new CelFailure("type conversion error from \'string\' to \'double\'");
  return new CelDouble(Number(text));
}

function doubleToInteger(value: number, max: bigint, min: bigint): bigint | undefined {
  if (!Number.isFinite(value)) return undefined;
  const whole = BigInt(Math.trunc(value));
  return whole > max || whole < min ? undefined : whole;
}

/** Shortest text that reads back as the same number, in Go's notation (`1e+21`). */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e21)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return String(value);
}

const BOOLS: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  '0': false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};

function boolOf(text: string): CelResult {
  if (Object.hasOwn(BOOLS, text)) return BOOLS[text] ?? false;
  return new CelFailure("type conversion error from \'string\' to \'bool\'");
}

function textOfBytes(bytes: Uint8Array): CelResult {
  const text = new TextDecoder('utf-8').decode(bytes);
  if (utf8LengthBytes(text) === bytes.length && !text.includes('\ufffd')) return text;
  return new CelFailure('invalid UTF-8 in bytes, cannot convert to string');
}

const SIZE_OVERLOADS: readonly CelOverload[] = (
  [
    ['string', (value: string) => BigInt(codePointCount(value))],
    ['bytes', (value: Uint8Array) => BigInt(value.length)],
    ['list<T>', (value: readonly unknown[]) => BigInt(value.length)],
    ['map<K, V>', (value: CelValue) => BigInt(celMapSize(value))],
  ] as const
).flatMap(([type, size]) => [
  overload(`size(${type}): int`, size as (value: never) => bigint),
  overload(`${type}.size(): int`, size as (value: never) => bigint),
]);

/** Type conversions and `size`. */
export const CONVERSIONS: readonly CelOverload[] = [
  ...SIZE_OVERLOADS,
  overload('dyn(T): dyn', (value: CelValue) => value),
  overload('type(T): type', (value: CelValue) => new CelTypeValue(celTypeName(value))),
  overload('bool(bool): bool', (value: boolean) => value),
  overload('bool(string): bool', boolOf),
  overload('int(int): int', (value: bigint) => value),
  overload('int(uint): int', (value: CelUint) => checkedInt(value.value)),
  overload(
    'int(double): int',
    (value: CelDouble) => doubleToInteger(value.value, MAX_INT - 1n, -MAX_INT) ?? OVERFLOW,
  ),
  overload('int(string): int', intOf),
  overload('int(timestamp): int', (value: CelTimestamp) => floorDivide(value.nanos, NANOS)),
  overload('int(duration): int', (value: CelDuration) => value.nanos),
  overload('uint(uint): uint', (value: CelUint) => value),
  overload('uint(int): uint', (value: bigint) => checkedUint(value)),
  overload('uint(double): uint', (value: CelDouble) => {
    const whole = doubleToInteger(value.value, MAX_UINT, 0n);
    return whole === undefined ? OVERFLOW : new CelUint(whole);
  }),
  overload('uint(string): uint', uintOf),
  overload('double(double): double', (value: CelDouble) => value),
  overload('double(int): double', (value: bigint) => new CelDouble(Number(value))),
  overload('double(uint): double', (value: CelUint) => new CelDouble(Number(value.value))),
  overload('double(string): double', doubleOf),
  overload('bytes(bytes): bytes', (value: Uint8Array) => value),
  overload('bytes(string): bytes', (value: string) => new TextEncoder().encode(value), traverseCost),
  overload('string(string): string', (value: string) => value),
  overload('string(bool): string', (value: boolean) => String(value)),
  overload('string(int): string', (value: bigint) => String(value)),
  overload('string(uint): string', (value: CelUint) => String(value.value)),
  overload('string(double): string', (value: CelDouble) => doubleText(value.value)),
  overload('string(bytes): string', textOfBytes, traverseCost),
  overload('string(timestamp): string', (value: CelTimestamp) => formatTimestamp(value)),
  overload('string(duration): string', (value: CelDuration) => formatDuration(value)),
];

export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}
