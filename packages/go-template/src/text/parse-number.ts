/** Go's strconv for numbers in text. */

const PREFIXES: Readonly<Record<string, bigint>> = { x: 16n, o: 8n, b: 2n };

/** Whether underscores are only between digits, or between a base prefix and a digit (underscoreOK). */
function underscoresFit(text: string): boolean {
  if (!text.includes('_')) return true;
  const digits = text.replace(/^[-+]/, '').replace(/^0[xXoObB]/, '0');
  return !/^_|_$|__|[^0-9a-fA-F]_|_[^0-9a-fA-F]/.test(digits);
}

/** Why a text is no number. */
export type NumberFault = 'invalid syntax' | 'value out of range';

/** strconv.ParseUint(text, 0, 64): the base follows from the prefix. */
export function parseUint(text: string): bigint | NumberFault {
  if (!underscoresFit(text)) return 'invalid syntax';
  const prefix = /^0([xXoObB])(?=[0-9a-fA-F_])/.exec(text);
  const base = prefix !== null ? PREFIXES[(prefix[1] ?? '').toLowerCase()] : /^0./.test(text) ? 8n : 10n;
  const digits = (prefix === null ? text : text.slice(2)).replaceAll('_', '');
  return inBase(digits, base ?? 10n);
}

const LETTERS = '0123456789abcdef';

function inBase(digits: string, base: bigint): bigint | NumberFault {
  if (digits === '') return 'invalid syntax';
  let value = 0n;
  let large = false;
  for (const letter of digits.toLowerCase()) {
    const digit = LETTERS.indexOf(letter);
    if (digit < 0 || BigInt(digit) >= base) return 'invalid syntax';
    large ||= value >= 1n << 64n;
    if (!large) value = value * base + BigInt(digit);
  }
  return large || value >= 1n << 64n ? 'value out of range' : value;
}

/** strconv.ParseInt(text, 0, 64), or with a base: then no prefix and no underscore. */
export function parseInt64(text: string, base?: 8 | 10): bigint | NumberFault {
  const negative = text.startsWith('-');
  const digits = text.replace(/^[-+]/, '');
  const size = base === undefined ? parseUint(digits) : inBase(digits, BigInt(base));
  if (typeof size === 'string') return size;
  const value = negative ? -size : size;
  return BigInt.asIntN(64, value) === value ? value : 'value out of range';
}

const DECIMAL = /^[-+]?(\d[\d_]*(\.[\d_]*)?|\.\d[\d_]*)([eE][-+]?\d[\d_]*)?$/;
const HEXADECIMAL = /^([-+]?)0[xX]_?([\da-fA-F_]*)(?:\.([\da-fA-F_]*))?[pP]([-+]?\d[\d_]*)$/;

/** strconv.ParseFloat(text, 64) */
export function parseFloat64(text: string): number | NumberFault {
  const special = /^([-+]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null)
    return (special[2] ?? '').toLowerCase() === 'nan' ? NaN : special[1] === '-' ? -Infinity : Infinity;
  const hexadecimal = HEXADECIMAL.exec(text);
  if (!underscoresFit(text)) return 'invalid syntax';
  if (hexadecimal === null && !DECIMAL.test(text)) return 'invalid syntax';
  const value = hexadecimal === null ? Number(text.replaceAll('_', '')) : fromHexadecimal(hexadecimal);
  if (value === undefined) return 'invalid syntax';
  return Number.isFinite(value) ? value : 'value out of range';
}

function fromHexadecimal(parts: RegExpExecArray): number | undefined {
  const [, sign = '', whole = '', fraction = '', power = '0'] = parts.map((part) =>
    part?.replaceAll('_', ''),
  );
  if (whole + fraction === '' || whole.length + fraction.length > 200) return undefined;
  const exponent = Number(power) - fraction.length * 4;
  if (Math.abs(exponent) > 5000) return exponent > 0 ? Infinity : 0;
  // Exact arithmetic and one rounding: JavaScript rounds the quotient of whole numbers only below 2^53.
  const mantissa = BigInt(`0x${whole}${fraction}`);
  const value = nearest(mantissa, exponent);
  return sign === '-' ? -value : value;
}

function nearest(mantissa: bigint, exponent: number): number {
  if (mantissa === 0n) return 0;
  if (exponent >= 0) return Number(mantissa << BigInt(exponent));
  // Keeps 64 bits, and one bit that says whether bits were cut off. Number() then rounds once.
  const surplus = mantissa.toString(2).length - 64;
  if (surplus <= 0) return Number(mantissa) * 2 ** exponent;
  const kept = mantissa >> BigInt(surplus);
  const cut = kept << BigInt(surplus) === mantissa ? 0n : 1n;
  return Number(kept | cut) * 2 ** (exponent + surplus);
}
