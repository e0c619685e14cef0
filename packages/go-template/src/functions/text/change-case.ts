import { decodeRune, encodeRune, encodeRunes, isAscii, mapRunes, runesOf } from '../../text/bytes.ts';
import {
  isDigit,
  isLetter,
  isLower,
  isSpace,
  isUpper,
  toLowerRune,
  toTitleRune,
  toUpperRune,
} from '../../text/unicode.ts';

/** strings.ToUpper and ToLower: character by character, unlike JavaScript's. */
export function upper(bytes: string): string {
  return isAscii(bytes) ? bytes.toUpperCase() : mapRunes(bytes, toUpperRune);
}

export function lower(bytes: string): string {
  return isAscii(bytes) ? bytes.toLowerCase() : mapRunes(bytes, toLowerRune);
}

/** Whether a character separates words for strings.Title. */
function isSeparator(rune: number): boolean {
  if (rune < 0x80) return !(isLetter(rune) || isDigit(rune) || rune === 0x5f);
  return !isLetter(rune) && !isDigit(rune) && isSpace(rune);
}

/** strings.Title: the first letter of each word in title case. */
export function title(bytes: string): string {
  let previous = 0x20;
  return mapRunes(bytes, (rune) => {
    const changed = isSeparator(previous) ? toTitleRune(rune) : rune;
    previous = rune;
    return changed;
  });
}

/** The first letter of each word in lower case (goutils.Uncapitalize). */
export function untitle(bytes: string): string {
  let atStart = true;
  return mapRunes(bytes, (rune) => {
    if (isSpace(rune)) {
      atStart = true;
      return rune;
    }
    const changed = atStart ? toLowerRune(rune) : rune;
    atStart = false;
    return changed;
  });
}

/** goutils.SwapCase: a lower letter at the start of a word gets title case. */
export function swapCase(bytes: string): string {
  let afterSpace = true;
  const runes = runesOf(bytes).map((rune) => {
    if (isUpper(rune) || /^\p{Lt}$/u.test(String.fromCodePoint(rune))) {
      afterSpace = false;
      return toLowerRune(rune);
    }
    if (!isLower(rune)) {
      afterSpace = isSpace(rune);
      return rune;
    }
    const changed = afterSpace ? toTitleRune(rune) : toUpperRune(rune);
    afterSpace = false;
    return changed;
  });
  return encodeRunes(runes);
}

function isConnector(rune: number): boolean {
  return rune === 0x2d || rune === 0x5f || isSpace(rune);
}

/**
 * camelcase of sprig (xstrings.ToPascalCase). Connectors at the start stay. Connectors inside are
 * dropped one by one.
 */
export function pascalCase(bytes: string): string {
  let at = 0;
  let result = '';
  let [current, width] = [0, 0];
  let afterUpper = false;
  while (at < bytes.length) {
    ({ rune: current, width } = decodeRune(bytes, at));
    at += width;
    if (!isConnector(current)) {
      afterUpper = isUpper(current);
      current = toUpperRune(current);
      break;
    }
    result += encodeRune(current);
  }
  if (at >= bytes.length) return width === 0 ? result : result + encodeRune(current);
  while (at < bytes.length) {
    const before = current;
    ({ rune: current, width } = decodeRune(bytes, at));
    at += width;
    if (isConnector(current) && isConnector(before)) {
      result += encodeRune(before);
      continue;
    }
    if (isConnector(before)) {
      afterUpper = isUpper(current);
      current = toUpperRune(current);
      continue;
    }
    if (afterUpper) {
      if (isUpper(current)) current = toLowerRune(current);
      else afterUpper = false;
    }
    result += encodeRune(before);
  }
  return result + encodeRune(current);
}
