/**
 * Kubernetes quantities (`1500m`, `0.5Gi`, `1e9`), exact: a decimal number with a BigInt mantissa, as
 * apimachinery's `resource.Quantity`. Like upstream, anything finer than 10^-9 is rounded away from zero, and binary
 * quantities are capped at 2^63−1.
 */
export interface Quantity {
  /** Value = mantissa × 10^exponent. The exponent is never below −9. */
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

const PATTERN = /^([+-]?)([0-9]*)(?:(\.)([0-9]*))?([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE]?)$/;
const NANO = -9;
const MAX_INT64 = 2n ** 63n - 1n;
/** Far beyond any cluster. Without the limit, `1e999999999` would use all memory. */
const MAX_EXPONENT = 400;
const MAX_LENGTH = 1000;

const DECIMAL_SUFFIXES = 'n u m _ k M G T P E'.split(' ');
const DECIMAL_EXPONENT = new Map(
  DECIMAL_SUFFIXES.map((suffix, index) => [suffix === '_' ? '' : suffix, (index - 3) * 3]),
);
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Parses a quantity; a number is read as its decimal text, as in JSON. Undefined when the text is no quantity. */
export function parseQuantity(value: string | number): Quantity | undefined {
  const text = typeof value === 'number' ? String(value) : value.trim();
  const match = text.length > MAX_LENGTH ? null : PATTERN.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', , fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  if (suffix.endsWith('i')) return binaryQuantity(digits, fraction.length, BINARY_SUFFIXES.indexOf(suffix));
  const decimal = DECIMAL_EXPONENT.get(suffix);
  const exponent = decimal ?? Number(suffix.slice(1));
  if (Math.abs(exponent) > MAX_EXPONENT) return undefined;
  return atLeastNano(
    digits,
    exponent - fraction.length,
    decimal === undefined ? 'DecimalExponent' : 'DecimalSI',
  );
}

/** Negative, 0 or positive; exact. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  const exponent = Math.min(left.exponent, right.exponent);
  const difference = scaledTo(left, exponent) - scaledTo(right, exponent);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** The sum, in the format of the left side (of the right side when the left is 0), as upstream's Add. */
export function addQuantities(left: Quantity, right: Quantity): Quantity {
  const exponent = Math.min(left.exponent, right.exponent);
  const format = left.mantissa === 0n ? right.format : left.format;
  return { mantissa: scaledTo(left, exponent) + scaledTo(right, exponent), exponent, format };
}

export function negateQuantity(quantity: Quantity): Quantity {
  return { ...quantity, mantissa: -quantity.mantissa };
}

/** As upstream's AsApproximateFloat64: mantissa and power of ten are each rounded to a float64, then multiplied. */
export function quantityToNumber(quantity: Quantity): number {
  return quantity.exponent === 0
    ? Number(quantity.mantissa)
    : Number(quantity.mantissa) * Number(`1e${quantity.exponent}`);
}

/** The value when it is a whole number within int64. */
export function quantityToInteger(quantity: Quantity): bigint | undefined {
  const scale = 10n ** BigInt(Math.abs(quantity.exponent));
  if (quantity.exponent < 0 && quantity.mantissa % scale !== 0n) return undefined;
  const value = quantity.exponent < 0 ? quantity.mantissa / scale : quantity.mantissa * scale;
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}

/** Canonical text: no fraction digits, the largest suffix that allows it, binary suffixes only for whole numbers. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.mantissa === 0n) return '0';
  // Below 1024 in size upstream falls back to decimal suffixes, so that no precision is lost.
  const value = quantity.format === 'BinarySI' ? awayFromZero(quantity) : 0n;
  if (
    value > 1024n ||
    value < -1024n ||
    (value * value === 1_048_576n && quantityToInteger(quantity) === value)
  )
    return formatBinary(value);
  return formatDecimal(quantity);
}

function formatBinary(value: bigint): string {
  let [rest, power] = [value, 0];
  while (rest % 1024n === 0n && power < BINARY_SUFFIXES.length - 1) {
    rest /= 1024n;
    power++;
  }
  return `${rest}${BINARY_SUFFIXES[power] ?? ''}`;
}

function formatDecimal(quantity: Quantity): string {
  let { mantissa, exponent } = quantity;
  while (mantissa % 10n === 0n) {
    mantissa /= 10n;
    exponent++;
  }
  // Suffixes exist for multiples of three only; upstream's largest is E (10^18).
  const limit = quantity.format === 'DecimalExponent' ? exponent : Math.min(exponent, 18);
  const target = Math.floor(limit / 3) * 3;
  mantissa *= 10n ** BigInt(exponent - target);
  if (target === 0) return String(mantissa);
  if (quantity.format === 'DecimalExponent') return `${mantissa}e${target}`;
  return `${mantissa}${DECIMAL_SUFFIXES[target / 3 + 3] ?? ''}`;
}

function binaryQuantity(digits: bigint, fractionDigits: number, power: number): Quantity {
  const scaled = atLeastNano(digits * 1024n ** BigInt(power), -fractionDigits, 'BinarySI');
  const limit = MAX_INT64 * 10n ** BigInt(-scaled.exponent);
  if (scaled.mantissa > limit) return { mantissa: MAX_INT64, exponent: 0, format: 'BinarySI' };
  if (scaled.mantissa < -limit) return { mantissa: -MAX_INT64, exponent: 0, format: 'BinarySI' };
  const one = 10n ** BigInt(-scaled.exponent);
  const isFraction = scaled.mantissa !== 0n && scaled.mantissa < one && scaled.mantissa > -one;
  return isFraction ? { ...scaled, format: 'DecimalSI' } : scaled;
}

function atLeastNano(digits: bigint, exponent: number, format: QuantityFormat): Quantity {
  if (exponent >= NANO) return { mantissa: digits, exponent, format };
  const divisor = 10n ** BigInt(NANO - exponent);
  const cut = digits / divisor;
  const rounded = digits % divisor === 0n ? cut : cut + (digits < 0n ? -1n : 1n);
  return { mantissa: rounded, exponent: NANO, format };
}

function scaledTo(quantity: Quantity, exponent: number): bigint {
  return quantity.mantissa * 10n ** BigInt(quantity.exponent - exponent);
}

function awayFromZero(quantity: Quantity): bigint {
  if (quantity.exponent >= 0) return scaledTo(quantity, 0);
  const scale = 10n ** BigInt(-quantity.exponent);
  const cut = quantity.mantissa / scale;
  if (quantity.mantissa % scale === 0n) return cut;
  return cut + (quantity.mantissa < 0n ? -1n : 1n);
}
