import { decodeRune } from './bytes.ts';
import { isPrint, REPLACEMENT } from './unicode.ts';

const SHORT: ReadonlyMap<number, string> = new Map([
  [7, '\\a'],
  [8, '\\b'],
  [12, '\\f'],
  [10, '\\n'],
  [13, '\\r'],
  [9, '\\t'],
  [11, '\\v'],
]);

/** One character as a Go literal has it (strconv.AppendEscapedRune). */
function escaped(rune: number, quote: string, asciiOnly: boolean, bytes: string): string {
  const text = bytes.length === 1 ? bytes : undefined;
  if (text === quote || text === '\\') return `\\${text}`;
  if (asciiOnly ? rune < 0x80 && isPrint(rune) : isPrint(rune)) return bytes;
  const short = SHORT.get(rune);
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
