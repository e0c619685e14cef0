import { REPLACEMENT, isSpace } from './unicode.ts';

/**
 * Strings of Go are bytes. Inside the engine, a string therefore holds one byte per character
 * (U+0000 to U+00FF). Lengths, indexes, order, and strings that end inside a character are then the
 * same as in Go. `encode` and `decode` convert texts at the borders of the engine.
 */
const ASCII = /^[\0-\x7f]*$/;

export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** The UTF-8 bytes of a text, one per character. */
export function encode(text: string): string {
  if (isAscii(text)) return text;
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The text of UTF-8 bytes; each byte that is not UTF-8 becomes U+FFFD, as in Go's JSON. */
export function decode(bytes: string): string {
  if (isAscii(bytes)) return bytes;
  return fromRunes(runesOf(bytes));
}

export function fromRunes(runes: readonly number[]): string {
  let text = '';
  for (const rune of runes) text += String.fromCodePoint(rune);
  return text;
}

/** One character and how many bytes it takes; U+FFFD and 1 for a byte that is not UTF-8 (utf8.DecodeRuneInString). */
export interface DecodedRune {
  readonly rune: number;
  readonly width: number;
}

const BAD: DecodedRune = { rune: REPLACEMENT, width: 1 };

export function decodeRune(bytes: string, at: number): DecodedRune {
  const first = bytes.charCodeAt(at);
  if (Number.isNaN(first)) return { rune: REPLACEMENT, width: 0 };
  if (first < 0x80) return { rune: first, width: 1 };
  if (first < 0xc2 || first > 0xf4) return BAD;
  const width = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  let rune = first & (0x7f >> width);
  for (let more = 1; more < width; more++) {
    const next = bytes.charCodeAt(at + more);
    if (Number.isNaN(next) || (next & 0xc0) !== 0x80) return BAD;
    rune = (rune << 6) | (next & 0x3f);
  }
  if (width === 3 && (rune < 0x800 || (rune >= 0xd800 && rune <= 0xdfff))) return BAD;
  if (width === 4 && (rune < 0x10000 || rune > 0x10ffff)) return BAD;
  return { rune, width };
}

/** The characters of a string, as `[]rune(s)` gives them. */
export function runesOf(bytes: string): number[] {
  const runes: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    runes.push(rune);
    at += width;
  }
  return runes;
}

/** The bytes of one character. A number that is not a character gives the bytes of U+FFFD. */
export function encodeRune(rune: number): string {
  if (rune >= 0 && rune < 0x80) return String.fromCharCode(rune);
  const valid = rune >= 0 && rune <= 0x10ffff && (rune < 0xd800 || rune > 0xdfff);
  return encode(String.fromCodePoint(valid ? rune : REPLACEMENT));
}

export function encodeRunes(runes: readonly number[]): string {
  let bytes = '';
  for (const rune of runes) bytes += encodeRune(rune);
  return bytes;
}

/** Each character of a string changed (strings.Map without deletion). */
export function mapRunes(bytes: string, change: (rune: number) => number): string {
  let changed = '';
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    changed += encodeRune(change(rune));
    at += width;
  }
  return changed;
}

/** The order of byte strings. */
export function compareBytes(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** strings.TrimSpace of a text (not of bytes). Each white space character is one UTF-16 unit. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** strings.TrimSpace of a byte string. */
export function trimSpaceBytes(bytes: string): string {
  return isAscii(bytes) ? trimSpace(bytes) : trimRunes(bytes, isSpace);
}

/** strings.TrimFunc: without the characters at both ends that the test accepts. */
export function trimRunes(bytes: string, isCut: (rune: number) => boolean): string {
  let start = -1;
  let end = 0;
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    if (!isCut(rune)) {
      if (start < 0) start = at;
      end = at + width;
    }
    at += width;
  }
  return start < 0 ? '' : bytes.slice(start, end);
}
