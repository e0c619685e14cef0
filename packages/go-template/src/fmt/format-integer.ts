import { encodeRune } from '../text/bytes.ts';
import { quoteRune } from '../text/quote.ts';
import { isPrint, MAX_RUNE, REPLACEMENT } from '../text/unicode.ts';
import { checkText } from '../value/work.ts';
import type { Flags } from './flags.ts';
import { pad } from './flags.ts';

const BASES: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };

/** An integer formatted with a verb; undefined if the verb is not for integers. */
export function formatInteger(
  value: bigint,
  verb: string,
  flags: Flags,
  isSigned: boolean,
): string | undefined {
  if (verb === 'c') return pad(encodeRune(asRune(value)), flags);
  if (verb === 'q') return pad(quoteRune(encodeRune(asRune(value)), flags.plus), flags);
  if (verb === 'U') return unicode(BigInt.asUintN(64, value), flags);
  const hexV = verb === 'v' && flags.sharpV && !isSigned;
  const base = Object.hasOwn(BASES, verb) ? BASES[verb] : undefined;
  if (base === undefined) return undefined;
  return hexV ? inBase(value, 16, verb, { ...flags, sharp: true }) : inBase(value, base, verb, flags);
}

function asRune(value: bigint): number {
  return value < 0n || value > BigInt(MAX_RUNE) ? REPLACEMENT : Number(value);
}

function inBase(value: bigint, base: number, verb: string, flags: Flags): string {
  const negative = value < 0n;
  let digits = (negative ? -value : value).toString(base);
  if (verb === 'X') digits = digits.toUpperCase();
  const least = leastDigits(negative, flags);
  if (flags.precision === 0 && value === 0n) return ' '.repeat(flags.width ?? 0);
  checkText(least);
  digits = digits.padStart(least, '0');
  if (flags.sharp) {
    if (base === 2) digits = `0b${digits}`;
    if (base === 8 && !digits.startsWith('0')) digits = `0${digits}`;
    if (base === 16) digits = `${verb === 'X' ? '0X' : '0x'}${digits}`;
  }
  if (verb === 'O') digits = `0o${digits}`;
  const sign = negative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  return pad(sign + digits, flags, false);
}

/** The least number of digits. `%03d` and `%.3d` both set it; the precision wins. */
function leastDigits(negative: boolean, flags: Flags): number {
  if (flags.precision !== undefined) return flags.precision;
  if (!flags.zero || flags.minus || flags.width === undefined) return 0;
  return negative || flags.plus || flags.space ? flags.width - 1 : flags.width;
}

/** `U+0078`, and `U+0078 'x'` with the sharp flag. */
function unicode(value: bigint, flags: Flags): string {
  const digits = value.toString(16).toUpperCase();
  checkText(flags.precision ?? 0);
  let text = `U+${digits.padStart(Math.max(4, flags.precision ?? 4), '0')}`;
  if (flags.sharp && value <= BigInt(MAX_RUNE) && isPrint(Number(value)))
    text += ` '${encodeRune(Number(value))}'`;
  return pad(text, flags, false);
}
