import { decodeRune, encodeRune } from './bytes.ts';
import { isPrint, REPLACEMENT } from './unicode.ts';

const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [7, '\\a'],
  [8, '\\b'],
  [12, '\\f'],
  [10, '\\n'],
  [13, '\\r'],
  [9, '\\t'],
  [11, '\\v'],
]);

const RUNE_OF_LETTER: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
};
const DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** One character as a Go literal has it (strconv.AppendEscapedRune). */
function escaped(rune: number, quote: string, asciiOnly: boolean, bytes: string): string {
  const text = bytes.length === 1 ? bytes : undefined;
  if (text === quote || text === '\\') return `\\${text}`;
  if (asciiOnly ? rune < 0x80 && isPrint(rune) : isPrint(rune)) return bytes;
  const short = SHORT_ESCAPES.get(rune);
  if (short !== undefined) return short;
  if (rune < 0x20 || rune === 0x7f) return `\\x${hex(rune, 2)}`;
  if (rune < 0x10000) return `\\u${hex(rune, 4)}`;
  return `\\U${hex(rune, 8)}`;
}

export function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function quoteWith(bytes: string, quote: string, asciiOnly: boolean): string {
  let quoted = quote;
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    quoted +=
      rune === REPLACEMENT && width === 1
        ? `\\x${hex(bytes.charCodeAt(at), 2)}`
        : escaped(rune, quote, asciiOnly, bytes.slice(at, at + width));
    at += width;
  }
  return quoted + quote;
}

/** strconv.Quote of a byte string. */
export function quote(bytes: string): string {
  return quoteWith(bytes, '"', false);
}

/** strconv.QuoteToASCII of a byte string. */
export function quoteToAscii(bytes: string): string {
  return quoteWith(bytes, '"', true);
}

/** strconv.QuoteRune and QuoteRuneToASCII, of the bytes of one character. */
export function quoteRune(bytes: string, asciiOnly: boolean): string {
  return quoteWith(bytes, "'", asciiOnly);
}

/**
 * One character of a Go literal. `bytes` is what it adds to a string. An escape such as \xff adds
 * one byte, which may not be valid UTF-8.
 */
interface UnquotedChar {
  readonly rune: number;
  readonly bytes: string;
  readonly width: number;
}

/** strconv.UnquoteChar; undefined: invalid syntax. */
export function unquoteChar(text: string, at: number, quote: string): UnquotedChar | undefined {
  const first = text[at];
  if (first === undefined || (first === quote && (quote === '"' || quote === "'"))) return undefined;
  if (first !== '\\') {
    const { rune, width } = decodeRune(text, at);
    return { rune, bytes: text.slice(at, at + width), width };
  }
  const letter = text[at + 1] ?? '';
  if (Object.hasOwn(RUNE_OF_LETTER, letter)) return plain(RUNE_OF_LETTER[letter] ?? 0, 2);
  if (letter === quote && (letter === '"' || letter === "'")) return plain(letter.charCodeAt(0), 2);
  if (Object.hasOwn(DIGITS, letter)) return hexadecimal(text, at, letter);
  const octal = /^[0-7]{3}/.exec(text.slice(at + 1, at + 4))?.[0];
  const byte = octal === undefined ? 256 : Number.parseInt(octal, 8);
  return byte > 255 ? undefined : { rune: byte, bytes: String.fromCharCode(byte), width: 4 };
}

function plain(rune: number, width: number): UnquotedChar {
  return { rune, bytes: String.fromCharCode(rune), width };
}

function hexadecimal(text: string, at: number, letter: string): UnquotedChar | undefined {
  const count = DIGITS[letter] ?? 0;
  const digits = text.slice(at + 2, at + 2 + count);
  if (digits.length < count || !/^[0-9a-fA-F]+$/.test(digits)) return undefined;
  const rune = Number.parseInt(digits, 16);
  if (letter === 'x') return { rune, bytes: String.fromCharCode(rune), width: 4 };
  if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) return undefined;
  return { rune, bytes: encodeRune(rune), width: count + 2 };
}

/** strconv.Unquote of a string in double or back quotes; undefined: invalid syntax. */
export function unquote(text: string): string | undefined {
  const quote = text[0];
  if (text.length < 2 || quote !== text.at(-1)) return undefined;
  if (quote === '`') return text.slice(1, -1).replaceAll('\r', '');
  if (quote !== '"') return undefined;
  let unquoted = '';
  for (let at = 1; at < text.length - 1; ) {
    if (text[at] === '\n') return undefined;
    const char = unquoteChar(text, at, quote);
    if (char === undefined || at + char.width > text.length - 1) return undefined;
    unquoted += char.bytes;
    at += char.width;
  }
  return unquoted;
}
