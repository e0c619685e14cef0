import { encodeRune } from '../text/bytes.ts';
import { type YamlCursor, scannerError, FoldedSpace } from './yaml-cursor.ts';

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['N', '\xc2\x85'],
  ['_', '\xc2\xa0'],
  ['L', '\xe2\x80\xa8'],
  ['P', '\xe2\x80\xa9'],
]);
/** The number of hexadecimal digits after each escape. */
const CODE_LENGTHS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/**
 * A text in quotes.
 * @returns a byte string
 */
export function scanQuotedScalar(cursor: YamlCursor, quote: '"' | "'"): string {
  cursor.skip();
  const space = new FoldedSpace();
  let value = '';
  for (;;) {
    if (cursor.isDocumentIndicator()) throw scannerError('found unexpected document indicator', cursor.line);
    if (cursor.isEnd()) throw scannerError('found unexpected end of stream', cursor.line);
    value += scanWord(cursor, quote, space);
    if (cursor.is(quote)) break;
    space.read(cursor);
    value += space.take();
  }
  cursor.skip();
  return value;
}

/** Reads up to white space or the closing quote. */
function scanWord(cursor: YamlCursor, quote: '"' | "'", space: FoldedSpace): string {
  let value = '';
  for (;;) {
    value += cursor.readWhile(
      () => !cursor.isBlankOrEnd() && !cursor.is(quote) && (quote === "'" || !cursor.is('\\')),
    );
    if (cursor.isBlankOrEnd()) return value;
    if (cursor.is(quote)) {
      if (quote === '"' || !cursor.is("'", 1)) return value;
      value += "'";
      cursor.skipTimes(2);
    } else if (cursor.isBreak(1)) {
      cursor.skip();
      space.skipBreak(cursor);
      return value;
    } else value += escaped(cursor);
  }
}

function escaped(cursor: YamlCursor): string {
  const letter = cursor.ahead(2).slice(1);
  const known = ESCAPES.get(letter);
  const length = CODE_LENGTHS.get(letter);
  if (known === undefined && length === undefined)
    throw scannerError('found unknown escape character', cursor.line);
  cursor.skipTimes(2);
  if (length === undefined) return known ?? '';
  const digits = cursor.ahead(length);
  if (!/^[0-9A-Fa-f]+$/.test(digits) || digits.length < length)
    throw scannerError('did not find expected hexdecimal number', cursor.line);
  const rune = Number.parseInt(digits, 16);
  if ((rune >= 0xd800 && rune <= 0xdfff) || rune > 0x10ffff)
    throw scannerError('found invalid Unicode character escape code', cursor.line);
  cursor.skipTimes(length);
  return encodeRune(rune);
}
