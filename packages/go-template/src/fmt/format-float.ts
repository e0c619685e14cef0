import { type Decimal, fixed, shortest, significant, toBinary } from './exact-decimal.ts';

/**
 * strconv.FormatFloat for 64 bits.
 *
 * @param verb one of b, e, E, f, g, G, x, X
 * @param precision −1: as many digits as it takes to read the same number back
 */
export function formatFloat(value: number, verb: string, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return sign + unsigned(Math.abs(value), verb, precision);
}

function unsigned(value: number, verb: string, precision: number): string {
  switch (verb) {
    case 'b': {
      const { mantissa, exponent } = toBinary(value);
      return `${mantissa}p${exponent < 0 ? '' : '+'}${exponent}`;
    }
    case 'x':
    case 'X': {
      const text = hexadecimal(value, precision);
      return verb === 'X' ? text.toUpperCase() : text;
    }
    case 'f':
      return precision < 0 ? plain(shortest(value)) : fixed(value, precision);
    case 'e':
    case 'E':
      return exponential(value, precision, verb);
    default:
      return general(value, precision, verb);
  }
}

function plain({ digits, point }: Decimal): string {
  if (digits === '') return '0';
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return digits.padEnd(point, '0');
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

function exponential(value: number, precision: number, letter: string): string {
  const decimal = precision < 0 ? shortest(value) : significant(value, precision + 1);
  return withExponent(decimal, precision < 0 ? decimal.digits.length - 1 : precision, letter);
}

function withExponent({ digits, point }: Decimal, places: number, letter: string): string {
  const first = digits[0] ?? '0';
  const rest = digits.slice(1, places + 1).padEnd(Math.max(places, 0), '0');
  const exponent = digits === '' ? 0 : point - 1;
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `${first}${rest === '' ? '' : `.${rest}`}${letter}${exponent < 0 ? '-' : '+'}${power}`;
}

/**
 * %g: uses an exponent if it is less than −4, or if it is at least the precision. For the shortest
 * form (precision −1), the limit is 6.
 */
function general(value: number, precision: number, verb: string): string {
  const count = precision === 0 ? 1 : precision;
  const whole = count < 0 ? shortest(value) : significant(value, count);
  const decimal = { ...whole, digits: count < 0 ? whole.digits : whole.digits.replace(/0+$/, '') };
  let limit = count;
  if (limit > decimal.digits.length && decimal.digits.length >= decimal.point) limit = decimal.digits.length;
  if (count < 0) limit = 6;
  const exponent = decimal.point - 1;
  if (exponent < -4 || exponent >= limit)
    return withExponent(decimal, decimal.digits.length - 1, verb === 'G' ? 'E' : 'e');
  return plain(decimal);
}

/** %x: 0x1.8p+01 */
function hexadecimal(value: number, precision: number): string {
  let { mantissa, exponent } = toBinary(value);
  if (mantissa === 0n) exponent = 0;
  else {
    // One digit before the point, 60 bits after it.
    while (mantissa < 1n << 60n) [mantissa, exponent] = [mantissa << 1n, exponent - 1];
    exponent += 60;
  }
  if (precision >= 0 && precision < 15) {
    const shift = BigInt(60 - precision * 4);
    const [kept, cut, half] = [mantissa >> shift, mantissa & ((1n << shift) - 1n), 1n << (shift - 1n)];
    mantissa = (cut > half || (cut === half && kept % 2n === 1n) ? kept + 1n : kept) << shift;
    if (mantissa >> 61n !== 0n) [mantissa, exponent] = [mantissa >> 1n, exponent + 1];
  }
  const all = (mantissa & ((1n << 60n) - 1n)).toString(16).padStart(15, '0');
  const digits = precision < 0 ? all.replace(/0+$/, '') : all.slice(0, precision).padEnd(precision, '0');
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `0x${mantissa >> 60n}${digits === '' ? '' : `.${digits}`}p${exponent < 0 ? '-' : '+'}${power}`;
}
