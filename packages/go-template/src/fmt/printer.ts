import { encodeRune, decodeRune, runesOf } from '../text/bytes.ts';
import { quoteRune, hex, quote, quoteToAscii } from '../text/quote.ts';
import { isPrint, MAX_RUNE, REPLACEMENT } from '../text/unicode.ts';
import { Refusal } from '../value/go-error.ts';
import type { GoMap } from '../value/go-map.ts';
import { type Any, type Complex, type GoType, type Value, isInteger, isUnsigned } from '../value/go-type.ts';
import { checkDepth, checkLength, spend, checkText } from '../value/work.ts';
import { formatFloat } from './format-float.ts';

const NIL = '<nil>';

/** Writes values as fmt does (fmt/print.go). Text is byte strings. */
export class Printer {
  text = '';
  flags: Flags = noFlags();
  /** True while it writes `%!d(string=…)`. Then it does not call the method String. */
  #erroring = false;

  write(text: string): void {
    checkLength(this.text.length + text.length);
    spend(1 + (text.length >> 3));
    this.text += text;
  }

  /** One argument with a verb (printArg). */
  printArg(arg: Any, verb: string): void {
    if (arg === null) {
      if (verb === 'T' || verb === 'v') this.write(pad(NIL, this.flags));
      else this.#badVerb(undefined, verb);
      return;
    }
    if (verb === 'T') return this.write(formatString(arg.type.name, 's', this.flags) ?? '');
    if (verb === 'p') return this.#pointer(arg, verb);
    this.#value(arg, verb, 0);
  }

  #badVerb(value: Value | undefined, verb: string): void {
    this.#erroring = true;
    this.write(`%!${encodeRune(verb.codePointAt(0) ?? 0)}(`);
    if (value === undefined) this.write(NIL);
    else {
      this.write(`${value.type.name}=`);
      this.#value(value, 'v', 0);
    }
    this.write(')');
    this.#erroring = false;
  }

  #value(value: Value, verb: string, depth: number): void {
    checkDepth(depth);
    if (this.#asText(value, verb)) return;
    const text = this.#scalar(value, verb);
    if (text !== undefined) return this.write(text);
    switch (value.type.kind) {
      case 'interface':
        return this.#interface(value as Value<Any>, verb, depth);
      case 'map':
        return this.#map(value as Value<GoMap | null>, verb, depth);
      case 'slice':
        return this.#slice(value as Value<readonly unknown[] | null>, verb, depth);
      case 'struct':
      case 'ptr':
      case 'func':
        throw new Refusal(`Berth does not print a ${value.type.name} with %${verb}`);
      default:
        this.#badVerb(value, verb);
    }
  }

  /** A value whose type has the method String. */
  #asText(value: Value, verb: string): boolean {
    const { text } = value.type;
    if (text === undefined || this.#erroring || this.flags.sharpV || !'vsxXq'.includes(verb)) return false;
    this.write(formatString(text(value.data as never), verb, this.flags) ?? '');
    return true;
  }

  #scalar(value: Value, verb: string): string | undefined {
    if (isInteger(value)) return formatInteger(value.data, verb, this.flags, true);
    if (isUnsigned(value)) return formatInteger(value.data, verb, this.flags, false);
    switch (value.type.kind) {
      case 'bool':
        return verb === 't' || verb === 'v' ? pad(String(value.data), this.flags) : undefined;
      case 'float64':
        return formatNumber(value.data as number, verb, this.flags);
      case 'complex128':
        return formatComplex(value.data as Complex, verb, this.flags);
      case 'string':
        return formatString(value.data as string, verb, this.flags);
      default:
        return undefined;
    }
  }

  #interface({ type, data }: Value<Any>, verb: string, depth: number): void {
    if (data !== null) return this.#value(data, verb, depth + 1);
    this.write(this.flags.sharpV ? `${type.name}(nil)` : NIL);
  }

  #map({ type, data }: Value<GoMap | null>, verb: string, depth: number): void {
    const { sharpV } = this.flags;
    if (sharpV && data === null) return this.write(`${type.name}(nil)`);
    this.write(sharpV ? `${type.name}{` : 'map[');
    data?.entries().forEach(([key, entry], index) => {
      if (index > 0) this.write(sharpV ? ', ' : ' ');
      this.write(formatString(key, verb, this.flags) ?? this.#unfit(key, verb));
      this.write(':');
      this.#value({ type: elemOf(type), data: entry }, verb, depth + 1);
    });
    this.write(sharpV ? '}' : ']');
  }

  /** The text for the key of a map with a verb that is not for strings. */
  #unfit(key: string, verb: string): string {
    return `%!${encodeRune(verb.codePointAt(0) ?? 0)}(string=${formatString(key, 'v', this.flags) ?? ''})`;
  }

  #slice({ type, data }: Value<readonly unknown[] | null>, verb: string, depth: number): void {
    const { sharpV } = this.flags;
    if (sharpV && data === null) return this.write(`${type.name}(nil)`);
    this.write(sharpV ? `${type.name}{` : '[');
    data?.forEach((element, index) => {
      if (index > 0) this.write(sharpV ? ', ' : ' ');
      this.#value({ type: elemOf(type), data: element }, verb, depth + 1);
    });
    this.write(sharpV ? '}' : ']');
  }

  #pointer(value: Value, verb: string): void {
    if (['map', 'slice', 'ptr', 'func'].includes(value.type.kind))
      throw new Refusal('Berth does not print addresses in memory: %p differs in each run');
    this.#badVerb(value, verb);
  }
}

function elemOf(type: GoType): GoType {
  if (type.elem === undefined) throw new Error(`${type.name} has no elements`);
  return type.elem;
}

/** A string formatted with a verb; undefined if the verb is not for strings. */
function formatString(bytes: string, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case 'v':
      return flags.sharpV ? quoted(bytes, flags) : pad(truncate(bytes, flags), flags);
    case 's':
      return pad(truncate(bytes, flags), flags);
    case 'x':
      return hexadecimal(bytes, flags);
    case 'X':
      return hexadecimal(bytes, flags).toUpperCase();
    case 'q':
      return quoted(bytes, flags);
    default:
      return undefined;
  }
}

function truncate(bytes: string, flags: Flags): string {
  if (flags.precision === undefined) return bytes;
  let at = 0;
  for (let count = 0; count < flags.precision && at < bytes.length; count++)
    at += decodeRune(bytes, at).width;
  return bytes.slice(0, at);
}

function quoted(bytes: string, flags: Flags): string {
  const text = truncate(bytes, flags);
  if (flags.sharp && canBackquote(text)) return pad(`\`${text}\``, flags);
  return pad(flags.plus ? quoteToAscii(text) : quote(text), flags);
}

/**
 * strconv.CanBackquote: one line, no control characters except tab, no byte order mark, valid
 * UTF-8.
 */
function canBackquote(bytes: string): boolean {
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    at += width;
    if (
      width > 1
        ? rune === 0xfeff
        : rune === 0xfffd || (rune < 0x20 && rune !== 9) || rune === 0x60 || rune === 0x7f
    )
      return false;
  }
  return true;
}

function hexadecimal(bytes: string, flags: Flags): string {
  const shown = flags.precision === undefined ? bytes : bytes.slice(0, flags.precision);
  checkText(shown.length * 4);
  const pairs = [...shown].map((byte) => hex(byte.charCodeAt(0), 2));
  const prefix = flags.sharp && pairs.length > 0 ? '0x' : '';
  const text = flags.space ? pairs.map((pair) => prefix + pair).join(' ') : prefix + pairs.join('');
  return pad(text, flags);
}

const BASES: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };

/** An integer formatted with a verb; undefined if the verb is not for integers. */
function formatInteger(value: bigint, verb: string, flags: Flags, isSigned: boolean): string | undefined {
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

const VERBS: ReadonlyMap<string, readonly [verb: string, precision: number]> = new Map([
  ['v', ['g', -1]],
  ['b', ['b', -1]],
  ['g', ['g', -1]],
  ['G', ['G', -1]],
  ['x', ['x', -1]],
  ['X', ['X', -1]],
  ['f', ['f', 6]],
  ['e', ['e', 6]],
  ['E', ['E', 6]],
  ['F', ['f', 6]],
]);

/** A float64 formatted with a verb; undefined if the verb is not for floats. */
function formatNumber(value: number, verb: string, flags: Flags): string | undefined {
  const known = VERBS.get(verb);
  if (known === undefined) return undefined;
  const [letter, usual] = known;
  const precision = flags.precision ?? usual;
  checkText(precision);
  const text = formatFloat(value, letter, precision);
  let sign = /^[-+]/.exec(text)?.[0] ?? '+';
  let number = text.replace(/^[-+]/, '');
  if (flags.space && sign === '+' && !flags.plus) sign = ' ';
  if (/^[IN]/.test(number)) {
    const bare = number.startsWith('N') && !flags.space && !flags.plus;
    const shown = bare || (sign === '+' && !flags.plus) ? number : sign + number;
    return pad(number.startsWith('I') ? sign + number : shown, flags, false);
  }
  if (flags.sharp && letter !== 'b') number = withPoint(number, letter, precision);
  if (!flags.plus && sign === '+') return pad(number, flags);
  const missing = (flags.width ?? 0) - number.length - 1;
  if (flags.zero && !flags.minus && missing > 0) return sign + '0'.repeat(missing) + number;
  return pad(sign + number, flags);
}

/** Applies the sharp flag: the number always has a decimal point and keeps trailing zeros. */
function withPoint(number: string, verb: string, precision: number): string {
  const hexadecimal = verb === 'x' || verb === 'X';
  const [, head = '', tail = ''] = (hexadecimal ? /^([^pP]*)(.*)$/ : /^([^eE]*)(.*)$/).exec(number) ?? [];
  let missing = ['g', 'G', 'x'].includes(verb) ? (precision === -1 ? 6 : precision) : 0;
  // The first nonzero character begins the digits that count; of a hexadecimal number that is its x.
  missing -= head.replace('.', '').replace(/^0+/, '').length;
  let whole = head;
  if (!head.includes('.')) {
    if (head === '0') missing--;
    whole += '.';
  }
  return whole + '0'.repeat(Math.max(missing, 0)) + tail;
}

function formatComplex({ re, im }: Complex, verb: string, flags: Flags): string | undefined {
  const real = formatNumber(re, verb, flags);
  const imaginary = formatNumber(im, verb, { ...flags, plus: true });
  return real === undefined || imaginary === undefined ? undefined : `(${real}${imaginary}i)`;
}

/** The flags of one verb: `%-08.3f` and so on. */
interface Flags {
  width: number | undefined;
  precision: number | undefined;
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  /** `%+v`, which is not the same as a sign. */
  plusV: boolean;
  /** `%#v`: Go syntax. */
  sharpV: boolean;
}

export function noFlags(): Flags {
  return {
    width: undefined,
    precision: undefined,
    minus: false,
    plus: false,
    sharp: false,
    space: false,
    zero: false,
    plusV: false,
    sharpV: false,
  };
}

/** A text padded to the width with spaces, or with zeros on the left if the flag says so. */
function pad(text: string, flags: Flags, zero = flags.zero): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - runesOf(text).length;
  if (missing <= 0) return text;
  checkText(missing);
  if (flags.minus) return text + ' '.repeat(missing);
  return (zero ? '0' : ' ').repeat(missing) + text;
}
