import { shortest } from '../../fmt/exact-decimal.ts';
import { formatFloat } from '../../fmt/format-float.ts';
import { sprint } from '../../fmt/sprintf.ts';
import { parseFloat64, parseInt64 } from '../../text/parse-number.ts';
import { GoError } from '../../value/go-error.ts';
import { func, type FuncMap, variadic } from '../../value/go-func.ts';
import {
  type Any,
  FLOAT64,
  floatToInt64,
  INT,
  INT64,
  INTERFACE,
  INTS,
  isInteger,
  isUnsigned,
  STRING,
  wrap64,
} from '../../value/go-type.ts';
import { checkElements } from '../../value/work.ts';

/** Conversion as in spf13/cast. A value that cannot become a number is 0. */
export function toInt64(value: Any): bigint {
  if (value === null) return 0n;
  if (isInteger(value) || isUnsigned(value)) return wrap64(value.data);
  switch (value.type.kind) {
    case 'float64':
      return floatToInt64(value.data as number);
    case 'bool':
      return value.data === true ? 1n : 0n;
    case 'string': {
      const number = parseInt64(withoutZeroDecimals(value.data as string));
      return typeof number === 'bigint' ? number : 0n;
    }
    default:
      return 0n;
  }
}

/** `3.00` counts as 3, and `.0` as nothing. */
function withoutZeroDecimals(text: string): string {
  return text.replace(/\.0+$/, '');
}

function toFloat64(value: Any): number {
  if (value === null) return 0;
  if (isInteger(value) || isUnsigned(value)) return Number(value.data);
  switch (value.type.kind) {
    case 'float64':
      return value.data as number;
    case 'bool':
      return value.data === true ? 1 : 0;
    case 'string': {
      const number = parseFloat64(value.data as string);
      return typeof number === 'number' ? number : 0;
    }
    default:
      return 0;
  }
}

const PRECISION = 16;

function untilStep(start: bigint, stop: bigint, step: bigint): bigint[] {
  const downward = stop < start;
  if (downward ? step >= 0n : step <= 0n) return [];
  const count = (stop - start) / step;
  checkElements(Number(count));
  const numbers: bigint[] = [];
  for (let at = start; downward ? at > stop : at < stop; at += step) numbers.push(at);
  return numbers;
}

/** The numbers from start to end, as the program seq prints them. */
function seq(numbers: readonly bigint[]): string {
  const [first = 0n, second = 0n, third = 0n] = numbers;
  if (numbers.length === 0 || numbers.length > 3) return '';
  const [start, end] = numbers.length === 1 ? [1n, first] : [first, numbers.length === 2 ? second : third];
  const direction = end < start ? -1n : 1n;
  const step = numbers.length === 3 ? second : direction;
  if (numbers.length === 3 && end < start && step > 0n) return '';
  return untilStep(start, end + direction, step).join(' ');
}

function round(value: Any, places: bigint, options: readonly number[]): number {
  const [roundOn = 0.5] = options;
  const power = 10 ** Number(places);
  const digits = power * toFloat64(value);
  const fraction = Number.isFinite(digits) ? digits - Math.trunc(digits) : digits;
  return (fraction >= roundOn ? Math.ceil(digits) : Math.floor(digits)) / power;
}

/** Reads the text of a value as an octal number. */
function fromOctal(value: Any): bigint {
  const number = parseInt64(sprint([value]), 8);
  return typeof number === 'bigint' ? number : 0n;
}

/** strconv.Atoi without its error. A number that is too large becomes the largest integer. */
function atoi(text: string): bigint {
  const number = parseInt64(text, 10);
  if (typeof number === 'bigint') return number;
  if (number === 'invalid syntax') return 0n;
  return text.startsWith('-') ? -(1n << 63n) : (1n << 63n) - 1n;
}

function divisor(value: Any): bigint {
  const number = toInt64(value);
  if (number === 0n) throw new GoError('runtime error: integer divide by zero');
  return number;
}

function withDecimals(
  first: number,
  others: readonly Any[],
  apply: (left: Decimal, right: Decimal) => Decimal,
) {
  checkElements(others.length);
  return toNumber(
    others.reduce(
      (result: Decimal, other) => apply(result, toDecimalNumber(toFloat64(other))),
      toDecimalNumber(first),
    ),
  );
}

const decimals = (apply: (left: Decimal, right: Decimal) => Decimal) =>
  variadic([INTERFACE], INTERFACE, [
    FLOAT64,
    (first, others) => withDecimals(toFloat64(first), others, apply),
  ]);
const greatest = variadic([INTERFACE], INTERFACE, [
  INT64,
  (first, others) => others.map(toInt64).reduce((most, next) => (next > most ? next : most), toInt64(first)),
]);

/** math.Max and math.Min. NaN wins, and 0 is larger than −0, as in JavaScript. */
const extreme = (choose: (left: number, right: number) => number) =>
  variadic([INTERFACE], INTERFACE, [
    FLOAT64,
    (first, others) => others.map(toFloat64).reduce((most, next) => choose(most, next), toFloat64(first)),
  ]);

/** sprig's functions for numbers (numeric.go, functions.go). */
export const NUMBER_FUNCTIONS: FuncMap = new Map([
  ['atoi', func([STRING], INT, atoi)],
  ['int64', func([INTERFACE], INT64, toInt64)],
  ['int', func([INTERFACE], INT, toInt64)],
  ['float64', func([INTERFACE], FLOAT64, toFloat64)],
  ['toDecimal', func([INTERFACE], INT64, fromOctal)],
  ['seq', variadic([], INT, [STRING, seq])],
  ['until', func([INT], INTS, (count) => untilStep(0n, count, count < 0n ? -1n : 1n))],
  ['untilStep', func([INT, INT, INT], INTS, untilStep)],
  ['add1', func([INTERFACE], INT64, (value) => wrap64(toInt64(value) + 1n))],
  [
    'add',
    variadic([], INTERFACE, [
      INT64,
      (values) => wrap64(values.map(toInt64).reduce((sum, next) => sum + next, 0n)),
    ]),
  ],
  ['sub', func([INTERFACE, INTERFACE], INT64, (left, right) => wrap64(toInt64(left) - toInt64(right)))],
  ['div', func([INTERFACE, INTERFACE], INT64, (left, right) => wrap64(toInt64(left) / divisor(right)))],
  ['mod', func([INTERFACE, INTERFACE], INT64, (left, right) => toInt64(left) % divisor(right))],
  [
    'mul',
    variadic([INTERFACE], INTERFACE, [
      INT64,
      (first, others) =>
        others.map(toInt64).reduce((product, next) => wrap64(product * next), toInt64(first)),
    ]),
  ],
  [
    'add1f',
    func([INTERFACE], FLOAT64, (value) =>
      toNumber(add(toDecimalNumber(toFloat64(value)), { value: 1n, exponent: 0 })),
    ),
  ],
  ['addf', variadic([], INTERFACE, [FLOAT64, (values) => withDecimals(0, values, add)])],
  ['subf', decimals(subtract)],
  ['divf', decimals(divide)],
  ['mulf', decimals(multiply)],
  ['biggest', greatest],
  ['max', greatest],
  [
    'min',
    variadic([INTERFACE], INTERFACE, [
      INT64,
      (first, others) =>
        others.map(toInt64).reduce((least, next) => (next < least ? next : least), toInt64(first)),
    ]),
  ],
  ['maxf', extreme(Math.max)],
  ['minf', extreme(Math.min)],
  ['ceil', func([INTERFACE], FLOAT64, (value) => Math.ceil(toFloat64(value)))],
  ['floor', func([INTERFACE], FLOAT64, (value) => Math.floor(toFloat64(value)))],
  ['round', variadic([INTERFACE, INT], FLOAT64, [FLOAT64, round])],
]);

/** shopspring/decimal: a whole number times ten to the power of the exponent. */
interface Decimal {
  readonly value: bigint;
  readonly exponent: number;
}

/** @throws GoError for infinity and NaN; Go panics there */
function toDecimalNumber(number: number): Decimal {
  if (!Number.isFinite(number))
    throw new GoError(`Cannot create a Decimal from ${formatFloat(number, 'g', -1)}`);
  const { digits, point } = shortest(number);
  const value = BigInt(digits === '' ? '0' : digits);
  return { value: number < 0 ? -value : value, exponent: point - digits.length };
}

function toNumber({ value, exponent }: Decimal): number {
  return Number(`${value}e${exponent}`);
}

/** Both numbers with the same exponent. */
function aligned(left: Decimal, right: Decimal): readonly [bigint, bigint, number] {
  const exponent = Math.min(left.exponent, right.exponent);
  const rescaled = (decimal: Decimal): bigint => decimal.value * 10n ** BigInt(decimal.exponent - exponent);
  return [rescaled(left), rescaled(right), exponent];
}

function add(left: Decimal, right: Decimal): Decimal {
  const [a, b, exponent] = aligned(left, right);
  return { value: a + b, exponent };
}

function subtract(left: Decimal, right: Decimal): Decimal {
  const [a, b, exponent] = aligned(left, right);
  return { value: a - b, exponent };
}

function multiply(left: Decimal, right: Decimal): Decimal {
  return { value: left.value * right.value, exponent: left.exponent + right.exponent };
}

/** The quotient with 16 digits after the decimal point, rounded half away from zero. */
function divide(left: Decimal, right: Decimal): Decimal {
  if (right.value === 0n) throw new GoError('decimal division by 0');
  const shift = left.exponent - right.exponent + PRECISION;
  const dividend = shift > 0 ? left.value * 10n ** BigInt(shift) : left.value;
  const divisor = shift < 0 ? right.value * 10n ** BigInt(-shift) : right.value;
  const quotient = dividend / divisor;
  const twice = abs(dividend % divisor) * 2n;
  const away = left.value < 0n === right.value < 0n ? 1n : -1n;
  return { value: twice < abs(divisor) ? quotient : quotient + away, exponent: -PRECISION };
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
