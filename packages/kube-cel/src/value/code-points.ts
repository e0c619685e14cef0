/**
 * CEL counts and orders text by Unicode code points, JavaScript by UTF-16 units. The two differ
 * only for text with surrogates, so the functions here use the faster UTF-16 operations when there
 * are none.
 */
const SURROGATE = /[\ud800-\udfff]/;

export function hasSurrogates(text: string): boolean {
  return SURROGATE.test(text);
}

export function codePointCount(text: string): number {
  if (!hasSurrogates(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Units of text that indexes count. */
export function codePoints(text: string): readonly string[] {
  return [...text];
}

export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  if (!hasSurrogates(a) || !hasSurrogates(b)) {
    if (!hasSurrogates(a) && !hasSurrogates(b)) return a < b ? -1 : 1;
  }
  const left = codePoints(a);
  const right = codePoints(b);
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = (left[i]?.codePointAt(0) ?? 0) - (right[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(left.length - right.length);
}

/** Index in code points of a UTF-16 offset; −1 stays −1. */
export function toCodePointIndex(text: string, offset: number): number {
  return offset < 0 ? offset : codePointCount(text.slice(0, offset));
}
