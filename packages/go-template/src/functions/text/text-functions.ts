import { sprintf, sprint } from '../../fmt/sprintf.ts';
import { decodeRune, runesOf, encodeRune, trimRunes, trimSpaceBytes } from '../../text/bytes.ts';
import { quote } from '../../text/quote.ts';
import { isSpace } from '../../text/unicode.ts';
import { GoError, sliceText } from '../../value/go-error.ts';
import { func, type FuncMap, variadic } from '../../value/go-func.ts';
import { GoMap, STRING_MAP } from '../../value/go-map.ts';
import { type Any, BOOL, INT, INTERFACE, STRING, STRINGS, isString } from '../../value/go-type.ts';
import { checkElements, checkText } from '../../value/work.ts';
import { lower, pascalCase, swapCase, title, untitle, upper } from './change-case.ts';
import { withConnector } from './snake-case.ts';

export function repeat(count: bigint, text: string): string {
  if (count < 0n) throw new GoError('strings: negative Repeat count');
  checkText(Number(count) * text.length);
  return text === '' ? '' : text.repeat(Number(count));
}

/** strings.Split and SplitN. An empty separator divides into characters. */
export function splitText(text: string, separator: string, limit = -1): string[] {
  if (limit === 0) return [];
  checkElements(text.length / Math.max(separator.length, 1));
  const parts = separator === '' ? characters(text) : text.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function characters(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const { width } = decodeRune(text, at);
    parts.push(text.slice(at, at + width));
    at += width;
  }
  return parts;
}

/**
 * strings.Replace of all occurrences. An empty text to replace matches before and after each
 * character.
 */
export function replaceAll(text: string, old: string, by: string): string {
  if (old === by) return text;
  const count = old === '' ? text.length + 1 : text.split(old).length - 1;
  checkText(text.length + count * by.length);
  if (old !== '') return text.split(old).join(by);
  const parts = characters(text);
  return parts.length === 0 ? by : `${by}${parts.join(by)}${by}`;
}

function indent(spaces: bigint, text: string): string {
  const pad = repeat(spaces, ' ');
  return pad + replaceAll(text, '\n', `\n${pad}`);
}

function trunc(count: bigint, text: string): string {
  const length = BigInt(text.length);
  if (count < 0n && length + count > 0n) return text.slice(Number(length + count));
  return count >= 0n && length > count ? text.slice(0, Number(count)) : text;
}

function substr(start: bigint, end: bigint, text: string): string {
  const [from, to] = [Number(start), Number(end)];
  if (from < 0) return sliceText(text, 0, to);
  return sliceText(text, from, to < 0 || to > text.length ? text.length : to);
}

/** strings.Trim: the characters of a set at both ends. */
export function trimSet(text: string, set: string): string {
  const cut = new Set(runesOf(set));
  return trimRunes(text, (rune) => cut.has(rune));
}

function quoteAll(values: readonly Any[], quoted: (value: Any) => string): string {
  return values
    .filter((value) => value !== null)
    .map(quoted)
    .join(' ');
}

function cat(values: readonly Any[]): string {
  const given = values.filter((value) => value !== null);
  return sprintf(given.map(() => '%v').join(' '), given);
}

/** A map with the keys `_0`, `_1`, …, which a template can write as fields. */
function numbered(parts: readonly string[]): GoMap<string> {
  return GoMap.of(parts.map((part, index) => [`_${index}`, part] as const));
}

function join(separator: string, value: Any): string {
  const parts = strslice(value);
  checkText(parts.reduce((sum, part) => sum + part.length + separator.length, 0));
  return parts.join(separator);
}

const textToText = (change: (text: string) => string) => func([STRING], STRING, change);
const trimAll = func([STRING, STRING], STRING, (set, text) => trimSet(text, set));

/** sprig's functions for strings (strings.go, functions.go). */
export const TEXT_FUNCTIONS: FuncMap = new Map([
  ['hello', func([], STRING, () => 'Hello!')],
  [
    'abbrev',
    func([INT, STRING], STRING, (width, text) => (width < 4n ? text : abbreviate(text, 0, Number(width)))),
  ],
  [
    'abbrevboth',
    func([INT, INT, STRING], STRING, (left, right, text) =>
      right < 4n || (left > 0n && right < 7n) ? text : abbreviate(text, Number(left), Number(right)),
    ),
  ],
  ['trunc', func([INT, STRING], STRING, trunc)],
  ['trim', textToText(trimSpaceBytes)],
  ['upper', textToText(upper)],
  ['lower', textToText(lower)],
  ['title', textToText(title)],
  ['untitle', textToText(untitle)],
  ['substr', func([INT, INT, STRING], STRING, substr)],
  ['repeat', func([INT, STRING], STRING, repeat)],
  ['trimall', trimAll],
  ['trimAll', trimAll],
  [
    'trimSuffix',
    func([STRING, STRING], STRING, (end, text) =>
      text.endsWith(end) ? text.slice(0, text.length - end.length) : text,
    ),
  ],
  [
    'trimPrefix',
    func([STRING, STRING], STRING, (start, text) =>
      text.startsWith(start) ? text.slice(start.length) : text,
    ),
  ],
  ['nospace', textToText(withoutSpace)],
  ['initials', textToText(initials)],
  ['swapcase', textToText(swapCase)],
  ['snakecase', textToText((text) => withConnector(text, '_'))],
  ['kebabcase', textToText((text) => withConnector(text, '-'))],
  ['camelcase', textToText(pascalCase)],
  [
    'wrap',
    func([INT, STRING], STRING, (width, text) =>
      wrapText(text, Number(width), { newLine: '', breakWords: false }),
    ),
  ],
  [
    'wrapWith',
    func([INT, STRING, STRING], STRING, (width, newLine, text) =>
      wrapText(text, Number(width), { newLine, breakWords: true }),
    ),
  ],
  ['contains', func([STRING, STRING], BOOL, (part, text) => text.includes(part))],
  ['hasPrefix', func([STRING, STRING], BOOL, (start, text) => text.startsWith(start))],
  ['hasSuffix', func([STRING, STRING], BOOL, (end, text) => text.endsWith(end))],
  ['quote', variadic([], INTERFACE, [STRING, (values) => quoteAll(values, (value) => quote(strval(value)))])],
  [
    'squote',
    variadic([], INTERFACE, [STRING, (values) => quoteAll(values, (value) => sprintf("'%v'", [value]))]),
  ],
  ['cat', variadic([], INTERFACE, [STRING, cat])],
  ['indent', func([INT, STRING], STRING, indent)],
  ['nindent', func([INT, STRING], STRING, (spaces, text) => `\n${indent(spaces, text)}`)],
  ['replace', func([STRING, STRING, STRING], STRING, (old, by, text) => replaceAll(text, old, by))],
  ['plural', func([STRING, STRING, INT], STRING, (one, many, count) => (count === 1n ? one : many))],
  ['toString', func([INTERFACE], STRING, strval)],
  ['split', func([STRING, STRING], STRING_MAP, (separator, text) => numbered(splitText(text, separator)))],
  [
    'splitn',
    func([STRING, INT, STRING], STRING_MAP, (separator, limit, text) =>
      numbered(splitText(text, separator, Number(limit))),
    ),
  ],
  ['splitList', func([STRING, STRING], STRINGS, (separator, text) => splitText(text, separator))],
  ['toStrings', func([INTERFACE], STRINGS, strslice)],
  ['join', func([STRING, INTERFACE], STRING, join)],
  [
    'fail',
    func([STRING], STRING, (message) => {
      throw new GoError(message);
    }),
  ],
]);

/** goutils.WrapCustom: lines of at most `width` bytes, broken at spaces. */
function wrapText(
  text: string,
  width: number,
  { newLine, breakWords }: { readonly newLine: string; readonly breakWords: boolean },
): string {
  const [length, line] = [Math.max(width, 1), newLine === '' ? '\n' : newLine];
  let [wrapped, at] = ['', 0];
  while (text.length - at > length) {
    if (text[at] === ' ') {
      at++;
      continue;
    }
    const space = text.slice(at, at + length + 1).lastIndexOf(' ');
    let end = at + space;
    let next = end + 1;
    if (space < 0) {
      const following = breakWords ? -1 : text.indexOf(' ', at + length);
      if (!breakWords && following < 0) break;
      end = breakWords ? at + length : following;
      next = breakWords ? end : end + 1;
    }
    wrapped += text.slice(at, end) + line;
    checkText(wrapped.length);
    at = next;
  }
  return wrapped + text.slice(at);
}

/**
 * goutils.AbbreviateFull. Where it fails, this returns an empty text, because sprig drops the
 * error.
 */
function abbreviate(text: string, offset: number, width: number): string {
  if (text === '' || width < 4) return '';
  if (text.length <= width) return text;
  let from = Math.min(offset, text.length);
  if (text.length - from < width - 3) from = text.length - (width - 3);
  if (from <= 4) return `${text.slice(0, width - 3)}...`;
  if (width < 7) return '';
  if (from + width - 3 < text.length)
    return `...${abbreviate(sliceText(text, from, text.length), 0, width - 3)}`;
  return `...${text.slice(text.length - (width - 3))}`;
}

/**
 * goutils.DeleteWhiteSpace. It treats bytes as characters. If it removes a space, it therefore
 * corrupts characters outside of ASCII.
 */
function withoutSpace(bytes: string): string {
  const kept = [...bytes].filter((byte) => !isSpace(byte.charCodeAt(0)));
  return kept.length === bytes.length ? bytes : kept.map((byte) => encodeRune(byte.charCodeAt(0))).join('');
}

/** goutils.Initials. It treats bytes as characters too. */
function initials(bytes: string): string {
  let [result, afterGap] = ['', true];
  for (const byte of bytes) {
    const space = isSpace(byte.charCodeAt(0));
    if (!space && afterGap) result += encodeRune(byte.charCodeAt(0));
    afterGap = space;
  }
  return result;
}

/** The text of a value (sprig's strval). */
export function strval(value: Any): string {
  return isString(value) ? value.data : sprint([value]);
}

/** The elements of a list, as the values that an `interface {}` would hold; undefined for what is no list. */
export function elements(value: Any): readonly Any[] | undefined {
  const elem = value?.type.kind === 'slice' ? value.type.elem : undefined;
  if (value === null || elem === undefined) return undefined;
  const list = (value.data as readonly unknown[] | null) ?? [];
  checkElements(list.length);
  return elem.kind === 'interface' ? (list as readonly Any[]) : list.map((data) => ({ type: elem, data }));
}

/** The texts of the elements of a list; a value that is no list counts as a list of one (sprig's strslice). */
export function strslice(value: Any): readonly string[] {
  if (value === null) return [];
  return (
    elements(value)
      ?.filter((element) => element !== null)
      .map(strval) ?? [strval(value)]
  );
}
