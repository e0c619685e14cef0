/** Character classes as Go's package unicode has them. */

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const LETTER = /^\p{L}$/u;
const DIGIT = /^\p{Nd}$/u;

export const REPLACEMENT = 0xfffd;
export const MAX_RUNE = 0x10ffff;

/** unicode.IsPrint: letters, marks, numbers, punctuation, symbols, and the plain space. */
export function isPrint(rune: number): boolean {
  if (rune < 0x7f) return rune >= 0x20;
  return PRINTABLE.test(String.fromCodePoint(rune));
}

/** unicode.IsLetter */
export function isLetter(rune: number): boolean {
  if (rune < 0x80) return (rune | 0x20) >= 0x61 && (rune | 0x20) <= 0x7a;
  return LETTER.test(String.fromCodePoint(rune));
}

/** unicode.IsDigit: decimal digits of any script. */
export function isDigit(rune: number): boolean {
  if (rune < 0x80) return rune >= 0x30 && rune <= 0x39;
  return DIGIT.test(String.fromCodePoint(rune));
}

/** unicode.IsSpace: the property White_Space. JavaScript's own `\s` differs in U+0085 and U+FEFF. */
export function isSpace(rune: number): boolean {
  if (rune < 0x100) return (rune >= 9 && rune <= 13) || rune === 0x20 || rune === 0x85 || rune === 0xa0;
  return (
    rune === 0x1680 ||
    (rune >= 0x2000 && rune <= 0x200a) ||
    rune === 0x2028 ||
    rune === 0x2029 ||
    rune === 0x202f ||
    rune === 0x205f ||
    rune === 0x3000
  );
}

/** unicode.IsUpper: the category Lu. */
export function isUpper(rune: number): boolean {
  if (rune < 0x80) return rune >= 0x41 && rune <= 0x5a;
  return /^\p{Lu}$/u.test(String.fromCodePoint(rune));
}

/** unicode.IsLower: the category Ll. */
export function isLower(rune: number): boolean {
  if (rune < 0x80) return rune >= 0x61 && rune <= 0x7a;
  return /^\p{Ll}$/u.test(String.fromCodePoint(rune));
}

/** unicode.ToUpper, one character to one. A character that would become several stays. */
export function toUpperRune(rune: number): number {
  return oneToOne(rune, (text) => text.toUpperCase());
}

/** unicode.ToLower, one character to one. */
export function toLowerRune(rune: number): number {
  if (rune === 0x130) return 0x69;
  return oneToOne(rune, (text) => text.toLowerCase());
}

function oneToOne(rune: number, change: (text: string) => string): number {
  if (rune >= 0xd800 && rune <= 0xdfff) return rune;
  const changed = change(String.fromCodePoint(rune));
  const first = changed.codePointAt(0) ?? rune;
  return changed.length === String.fromCodePoint(first).length ? first : rune;
}

/** Title case differs from upper case in the letters that are two letters in one, and in Georgian. */
const TITLE: ReadonlyMap<number, number> = new Map(
  [
    [0x1c4, 0x1c5],
    [0x1c7, 0x1c8],
    [0x1ca, 0x1cb],
    [0x1f1, 0x1f2],
  ].flatMap(([upper = 0, title = 0]) => [
    [upper, title],
    [title, title],
    [title + 1, title],
  ]),
);

/** unicode.ToTitle */
export function toTitleRune(rune: number): number {
  if (rune >= 0x10d0 && rune <= 0x10ff) return rune;
  return TITLE.get(rune) ?? toUpperRune(rune);
}
