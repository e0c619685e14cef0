import { shortest } from '../../fmt/exact-decimal.ts';
import { formatFloat } from '../../fmt/format-float.ts';
import { GoError } from '../../value/go-error.ts';

/** shopspring/decimal: a whole number times ten to the power of the exponent. */
export interface Decimal {
  readonly value: bigint;
  readonly exponent: number;
}

/** @throws GoError for infinity and NaN; Go panics there */
export function toDecimalNumber(number: number): Decimal {
  if (!Number.isFinite(number))
    throw new GoError(`Cannot create a Decimal from ${formatFloat(number, 'g', -1)}`);
  const { digits, point } = shortest(number);
  const value = BigInt(digits === '' ? '0' : digits);
  return { value: number < 0 ? -value : value, exponent: point - digits.length };
}

export function toNumber({ value, exponent }: Decimal): number {
  return Number(`${value}e${exponent}`);
}

/** Both numbers with the same exponent. */
function aligned(left: Decimal, right: Decimal): readonly [bigint, bigint, number] {
  const exponent = Math.min(left.exponent, right.exponent);
  const rescaled = (decimal: Decimal): bigint => decimal.value * 10n ** BigInt(decimal.exponent - exponent);
  return [rescaled(left), rescaled(right), exponent];
}

export function add(left: Decimal, right: Decimal): Decimal {
  const [a, b, exponent] = aligned(left, right);
  return { value: a + b, exponent };
}

export function subtract(left: Decimal, right: Decimal): Decimal {
  const [a, b, exponent] = aligned(left, right);
  return { value: a - b, exponent };
}

export function multiply(left: Decimal, right: Decimal): Decimal {
  return { value: left.value * right.value, exponent: left.exponent + right.exponent };
}

const PRECISION = 16;

/** The quotient with 16 digits after the decimal point, rounded half away from zero. */
export function divide(left: Decimal, right: Decimal): Decimal {
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
