import {
  assembleCost,
  containsCost,
  deepTraverseCost,
  rewriteCost,
  traverseCost,
} from '../value/cel-cost.ts';
import { CelFailure, type CelResult } from '../value/cel-value.ts';
import { codePointCount, codePoints, hasSurrogates, toCodePointIndex } from '../value/code-points.ts';
import { type CelOverload, overload } from '../value/overload.ts';

/** The standard text functions and the `strings` extension. Indexes count code points. */

/** Maximum length of a result: repeated `replace` would use up the memory before the cost limit. */
const MAX_TEXT_LENGTH = 4 * 1024 * 1024;

function outOfRange(index: bigint | number): CelFailure {
  return new CelFailure(`index out of range: ${index}`);
}

function charAt(text: string, index: bigint): CelResult {
  const units = hasSurrogates(text) ? codePoints(text) : text;
  if (index < 0n || index > BigInt(units.length)) return outOfRange(index);
  return units[Number(index)] ?? '';
}

function substring(text: string, start: bigint, end?: bigint): CelResult {
  const units = hasSurrogates(text) ? codePoints(text) : text;
  const stop = end ?? BigInt(units.length);
  if (start < 0n || start > BigInt(units.length)) return outOfRange(start);
  if (stop < 0n || stop > BigInt(units.length)) return outOfRange(stop);
  if (start > stop) return new CelFailure(`invalid substring range. start: ${start}, end: ${stop}`);
  const part = units.slice(Number(start), Number(stop));
  return typeof part === 'string' ? part : part.join('');
}

function indexOf(text: string, part: string, from = 0n): CelResult {
  const length = BigInt(codePointCount(text));
  if (from < 0n || from > length) return outOfRange(from);
  const start = hasSurrogates(text) ? codePoints(text).slice(0, Number(from)).join('').length : Number(from);
  return BigInt(toCodePointIndex(text, text.indexOf(part, start)));
}

function lastIndexOf(text: string, part: string, from?: bigint): CelResult {
  const length = BigInt(codePointCount(text));
  if (from !== undefined && (from < 0n || from > length)) return outOfRange(from);
  const start =
    from === undefined
      ? text.length
      : hasSurrogates(text)
        ? codePoints(text).slice(0, Number(from)).join('').length
        : Number(from);
  return BigInt(toCodePointIndex(text, text.lastIndexOf(part, start)));
}

function replace(text: string, old: string, next: string, limit = -1n): CelResult {
  const pieces = old === '' ? codePoints(text) : text.split(old);
  // An empty text matches before, between and after all characters.
  const gaps = old === '' ? pieces.length + 1 : pieces.length - 1;
  const count = limit < 0n || limit > BigInt(gaps) ? gaps : Number(limit);
  if (text.length + count * next.length > MAX_TEXT_LENGTH)
    return new CelFailure('replace: result is too long');
  if (old === '') return replaceEverywhere(pieces, next, count);
  return [pieces.slice(0, count + 1).join(next), ...pieces.slice(count + 1)].join(old);
}

function replaceEverywhere(characters: readonly string[], next: string, count: number): string {
  let out = '';
  for (let i = 0; i <= characters.length; i++) out += (i < count ? next : '') + (characters[i] ?? '');
  return out;
}

function split(text: string, separator: string, limit = -1n): CelResult {
  if (limit === 0n) return [];
  const parts = separator === '' ? [...codePoints(text)] : text.split(separator);
  if (limit < 0n || limit >= BigInt(parts.length)) return parts;
  const kept = parts.slice(0, Number(limit) - 1);
  return [...kept, parts.slice(kept.length).join(separator)];
}

function join(list: readonly unknown[], separator = ''): CelResult {
  if (!list.every((item): item is string => typeof item === 'string'))
    return new CelFailure('no such overload: join wants a list of strings');
  const length = list.reduce((sum, item) => sum + item.length + separator.length, 0);
  return length > MAX_TEXT_LENGTH ? new CelFailure('join: result is too long') : list.join(separator);
}

/** The white space that Unicode names and Go's `TrimSpace` removes. */
const TRIM =
  /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

function quote(text: string): string {
  return `"${codePoints(text)
    .map((character) => ESCAPES.get(character) ?? character)
    .join('')}"`;
}

export const STRINGS: readonly CelOverload[] = [
  overload(
    'string.contains(string): bool',
    (text: string, part: string) => text.includes(part),
    containsCost,
  ),
  overload(
    'string.startsWith(string): bool',
    (text: string, part: string) => text.startsWith(part),
    traverseCost,
  ),
  overload(
    'string.endsWith(string): bool',
    (text: string, part: string) => text.endsWith(part),
    traverseCost,
  ),
  overload('string.charAt(int): string', charAt),
  overload('string.substring(int): string', substring, traverseCost),
  overload('string.substring(int, int): string', substring, traverseCost),
  overload('string.indexOf(string): int', indexOf, deepTraverseCost),
  overload('string.indexOf(string, int): int', indexOf, deepTraverseCost),
  overload('string.lastIndexOf(string): int', lastIndexOf, deepTraverseCost),
  overload('string.lastIndexOf(string, int): int', lastIndexOf, deepTraverseCost),
  overload(
    'string.lowerAscii(): string',
    (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase()),
    traverseCost,
  ),
  overload(
    'string.upperAscii(): string',
    (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase()),
    traverseCost,
  ),
  overload('string.trim(): string', (text: string) => text.replace(TRIM, ''), traverseCost),
  overload('string.reverse(): string', (text: string) => codePoints(text).toReversed().join('')),
  overload('string.replace(string, string): string', replace, rewriteCost),
  overload('string.replace(string, string, int): string', replace, rewriteCost),
  overload('string.split(string): list<string>', split, rewriteCost),
  overload('string.split(string, int): list<string>', split, rewriteCost),
  overload('list<string>.join(): string', join, assembleCost),
  overload('list<string>.join(string): string', join, assembleCost),
  overload('strings.quote(string): string', quote, traverseCost),
];
