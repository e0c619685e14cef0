import { RE2JS } from 're2js';
import { decode, encode } from '../text/bytes.ts';
import { quote } from '../text/quote.ts';
import { isDigit, isLetter } from '../text/unicode.ts';
import { GoError } from '../value/go-error.ts';
import { func, type FuncMap } from '../value/go-func.ts';
import { BOOL, INT, STRING, STRINGS } from '../value/go-type.ts';
import { checkElements, checkText, spend } from '../value/work.ts';

/**
 * The package regexp of Go. The engine is a port of RE2. Syntax and errors are those of Go. The
 * time is linear in the length of the text for every pattern, so no pattern can block Berth.
 */
const MAX_KEPT = 200;
const compiled = new Map<string, RE2JS | GoError>();

function compile(pattern: string): RE2JS {
  let known = compiled.get(pattern);
  if (known === undefined) {
    known = tryCompile(pattern);
    // Patterns are nearly always constants of a template. Computed patterns must not fill the
    // memory.
    if (compiled.size >= MAX_KEPT) compiled.clear();
    if (pattern.length < 1000) compiled.set(pattern, known);
  }
  if (known instanceof GoError) throw new GoError(known.message);
  return known;
}

function tryCompile(pattern: string): RE2JS | GoError {
  spend(pattern.length * 10);
  try {
    return RE2JS.compile(decode(pattern));
  } catch (error) {
    return new GoError(encode(error instanceof Error ? error.message : String(error)));
  }
}

/** regexp.MustCompile, whose panic names the pattern. */
function mustCompile(pattern: string): RE2JS {
  try {
    return compile(pattern);
  } catch (error) {
    if (!(error instanceof GoError)) throw error;
    const shown = /[`\0-\x08\x0a-\x1f\x7f]/.test(pattern) ? quote(pattern) : `\`${pattern}\``;
    throw new GoError(`regexp: Compile(${shown}): ${error.message}`);
  }
}

/** One match: its start and end in UTF-16 units, and its groups by number. */
interface Match {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
}

type Find = (from: number) => Match | undefined;

function finder(regex: RE2JS, text: string): Find {
  const pattern = regex.pattern();
  // The program of a counted repetition is longer than its text.
  const cost = (pattern.length * (pattern.includes('{') ? 20 : 1)) / 8 + 1;
  const matcher = regex.matcher(text);
  // The first search may read the whole text. The next ones mostly start where the previous one
  // ended.
  spend(text.length * cost);
  return (from) => {
    spend(40 + ((text.length - from) * cost) / 64);
    if (!matcher.find(from)) return undefined;
    const groups = Array.from(
      { length: matcher.groupCount() + 1 },
      (_, group) => matcher.group(group) ?? undefined,
    );
    return { start: matcher.start(), end: matcher.end(), groups };
  };
}

function widthAt(text: string, at: number): number {
  const code = text.codePointAt(at);
  return code === undefined ? 0 : code > 0xffff ? 2 : 1;
}

/**
 * At most `limit` matches, as FindAll of regexp returns them. An empty match directly after another
 * match does not count.
 */
function allMatches(regex: RE2JS, text: string, limit: number): readonly Match[] {
  const find = finder(regex, text);
  const matches: Match[] = [];
  const most = limit < 0 ? text.length + 1 : limit;
  let [at, previousEnd] = [0, -1];
  while (matches.length < most && at <= text.length) {
    const match = find(at);
    if (match === undefined) break;
    let isTaken = true;
    if (match.end === at) {
      isTaken = match.start !== previousEnd;
      const width = widthAt(text, at);
      at = width > 0 ? at + width : text.length + 1;
    } else at = match.end;
    previousEnd = match.end;
    if (isTaken) matches.push(match);
  }
  checkElements(matches.length);
  return matches;
}

function findAll(regex: RE2JS, bytes: string, limit: bigint): readonly string[] | null {
  const text = decode(bytes);
  const found = allMatches(regex, text, Number(limit)).map(({ start, end }) =>
    encode(text.slice(start, end)),
  );
  return found.length === 0 ? null : found;
}

function findFirst(regex: RE2JS, bytes: string): string {
  const text = decode(bytes);
  const match = finder(regex, text)(0);
  return match === undefined ? '' : encode(text.slice(match.start, match.end));
}

function matches(regex: RE2JS, bytes: string): boolean {
  return finder(regex, decode(bytes))(0) !== undefined;
}

function replaceAll(regex: RE2JS, bytes: string, by: (match: Match) => string): string {
  const text = decode(bytes);
  const find = finder(regex, text);
  let [result, lastEnd, at] = ['', 0, 0];
  while (at <= text.length) {
    const match = find(at);
    if (match === undefined) break;
    result += text.slice(lastEnd, match.start);
    // An empty match directly after another match is not replaced.
    if (match.end > lastEnd || match.start === 0) result += by(match);
    checkText(result.length >> 4);
    lastEnd = match.end;
    const next = at + widthAt(text, at);
    at = next > match.end ? next : at + 1 > match.end ? at + 1 : match.end;
  }
  return encode(result + text.slice(lastEnd));
}

function isNamePart(char: string): boolean {
  const rune = char.codePointAt(0) ?? 0;
  return char === '_' || isLetter(rune) || isDigit(rune);
}

/**
 * Expands `$1`, `${1}` and `${name}` in a replacement (Expand of regexp). A name is as long as
 * possible.
 */
function expander(regex: RE2JS, replacement: string): (match: Match) => string {
  const names = regex.namedGroups() as Readonly<Record<string, number>>;
  const parts: (string | number)[] = [];
  let rest = decode(replacement);
  for (let dollar = rest.indexOf('$'); dollar >= 0; dollar = rest.indexOf('$')) {
    parts.push(rest.slice(0, dollar));
    const { part, length } = reference(rest.slice(dollar), names);
    parts.push(part);
    rest = rest.slice(dollar + length);
  }
  parts.push(rest);
  return ({ groups }) =>
    parts.map((part) => (typeof part === 'number' ? (groups[part] ?? '') : part)).join('');
}

function reference(
  text: string,
  names: Readonly<Record<string, number>>,
): { readonly part: string | number; readonly length: number } {
  if (text[1] === '$') return { part: '$', length: 2 };
  const isBraced = text[1] === '{';
  const start = isBraced ? 2 : 1;
  let end = start;
  while (end < text.length && isNamePart(String.fromCodePoint(text.codePointAt(end) ?? 0)))
    end += widthAt(text, end);
  const name = text.slice(start, end);
  if (name === '' || (isBraced && text[end] !== '}')) return { part: '$', length: 1 };
  const length = isBraced ? end + 1 : end;
  if (/^[0-9]+$/.test(name) && name.length < 9) return { part: Number(name), length };
  return { part: Object.hasOwn(names, name) ? (names[name] ?? '') : '', length };
}

function split(regex: RE2JS, bytes: string, limit: bigint): readonly string[] | null {
  if (limit === 0n) return null;
  if (bytes === '' && regex.pattern() !== '') return [''];
  const text = decode(bytes);
  const parts: string[] = [];
  let [start, end] = [0, 0];
  for (const match of allMatches(regex, text, Number(limit))) {
    if (limit > 0n && BigInt(parts.length) === limit - 1n) break;
    end = match.start;
    if (match.end !== 0) parts.push(text.slice(start, end));
    start = match.end;
  }
  if (end !== text.length) parts.push(text.slice(start));
  return parts.map(encode);
}

/**
 * The two forms of a function. An invalid pattern is a panic in one form and an error in the other.
 */
type Compile = (pattern: string) => RE2JS;
const findAllWith = (make: Compile) =>
  func([STRING, STRING, INT], STRINGS, (pattern, text, limit) => findAll(make(pattern), text, limit));
const findWith = (make: Compile) =>
  func([STRING, STRING], STRING, (pattern, text) => findFirst(make(pattern), text));
const replaceWith = (make: Compile) =>
  func([STRING, STRING, STRING], STRING, (pattern, text, by) => {
    const regex = make(pattern);
    return replaceAll(regex, text, expander(regex, by));
  });
const replaceLiterallyWith = (make: Compile) =>
  func([STRING, STRING, STRING], STRING, (pattern, text, by) => {
    const literal = decode(by);
    return replaceAll(make(pattern), text, () => literal);
  });
const splitWith = (make: Compile) =>
  func([STRING, STRING, INT], STRINGS, (pattern, text, limit) => split(make(pattern), text, limit));

function matchesIfValid(pattern: string, text: string): boolean {
  let regex: RE2JS;
  try {
    regex = compile(pattern);
  } catch (error) {
    if (error instanceof GoError) return false;
    throw error;
  }
  return matches(regex, text);
}

/** sprig's functions for regular expressions (regex.go). */
export const REGEX_FUNCTIONS: FuncMap = new Map([
  ['regexMatch', func([STRING, STRING], BOOL, matchesIfValid)],
  ['mustRegexMatch', func([STRING, STRING], BOOL, (pattern, text) => matches(compile(pattern), text))],
  ['regexFindAll', findAllWith(mustCompile)],
  ['mustRegexFindAll', findAllWith(compile)],
  ['regexFind', findWith(mustCompile)],
  ['mustRegexFind', findWith(compile)],
  ['regexReplaceAll', replaceWith(mustCompile)],
  ['mustRegexReplaceAll', replaceWith(compile)],
  ['regexReplaceAllLiteral', replaceLiterallyWith(mustCompile)],
  ['mustRegexReplaceAllLiteral', replaceLiterallyWith(compile)],
  ['regexSplit', splitWith(mustCompile)],
  ['mustRegexSplit', splitWith(compile)],
  ['regexQuoteMeta', func([STRING], STRING, (text) => text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&'))],
]);
