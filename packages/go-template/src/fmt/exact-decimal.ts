/**
 * A number as digits and the place of the decimal point: 0.DIGITS times ten to the power of
 * `point`.
 */
export interface Decimal {
  readonly digits: string;
  readonly point: number;
}

export interface Binary {
  readonly mantissa: bigint;
  readonly exponent: number;
}

const view = new DataView(new ArrayBuffer(8));

/** The absolute value of a finite float64 as mantissa times two to the power of the exponent. */
export function toBinary(value: number): Binary {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const fraction = bits & ((1n << 52n) - 1n);
  const biased = Number((bits >> 52n) & 0x7ffn);
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

/** The quotient, rounded half to even. */
function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  return twice > divisor || (twice === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

/** |value| times ten to the power of `places`, rounded half to even to a whole number. */
export function scaled(value: number, places: number): bigint {
  const { mantissa, exponent } = toBinary(value);
  let [dividend, divisor] = [mantissa, 1n];
  if (exponent >= 0) dividend <<= BigInt(exponent);
  else divisor <<= BigInt(-exponent);
  if (places >= 0) dividend *= 10n ** BigInt(places);
  else divisor *= 10n ** BigInt(-places);
  return divideRounded(dividend, divisor);
}

/** The shortest digits that read back as the same number. */
export function shortest(value: number): Decimal {
  if (value === 0) return { digits: '', point: 0 };
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential().split('e');
  return { digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

/** Whether |value| is less than a power of ten, exactly. */
function isBelowPowerOfTen(value: number, power: number): boolean {
  const { mantissa, exponent } = toBinary(value);
  const left = mantissa * 2n ** BigInt(Math.max(exponent, 0)) * 10n ** BigInt(Math.max(-power, 0));
  const right = 10n ** BigInt(Math.max(power, 0)) * 2n ** BigInt(Math.max(-exponent, 0));
  return left < right;
}

/** The first `count` significant digits, rounded half to even from the exact value. */
export function significant(value: number, count: number): Decimal {
  if (value === 0) return { digits: '', point: 0 };
  // The shortest form may have been rounded up to a power of ten.
  const rounded = shortest(value).point;
  const point = isBelowPowerOfTen(value, rounded - 1) ? rounded - 1 : rounded;
  const digits = scaled(value, count - point).toString();
  // Rounding may carry into one digit more.
  return { digits: digits.slice(0, count), point: point + digits.length - count };
}

/**
 * The number with `places` digits after the decimal point, rounded half to even from the exact
 * value.
 */
export function fixed(value: number, places: number): string {
  const text = scaled(value, places)
    .toString()
    .padStart(places + 1, '0');
  return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
}
