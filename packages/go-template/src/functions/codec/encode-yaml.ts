import { formatFloat } from '../../fmt/format-float.ts';
import { runesOf, decodeRune } from '../../text/bytes.ts';
import { hex } from '../../text/quote.ts';
import { isDigit, isLetter } from '../../text/unicode.ts';
import { GoError, Refusal } from '../../value/go-error.ts';
import { type GoMap, isMap } from '../../value/go-map.ts';
import { type Any, isString } from '../../value/go-type.ts';
import { checkText } from '../../value/work.ts';
import { decodeJson } from './decode-json.ts';
import { encodeJson } from './encode-json.ts';
import { isPlainText, resolveScalar } from './decode-yaml.ts';

/** Control characters that YAML readers refuse. */
const REFUSED = /\x7f|\xc2[\x80-\x84\x86-\x9f]|\xef\xbf[\xbe\xbf]/;

const NEXT_LINE = '\xc2\x85';

/**
 * toYaml of Argo CD: Marshal of sigs.k8s.io/yaml without the final line break. The value is written
 * as JSON first, and the JSON is read as YAML.
 */
export function encodeYaml(value: Any): string {
  const json = encodeJson(value);
  if (REFUSED.test(json)) throw new GoError('yaml: control characters are not allowed');
  if (json.includes(NEXT_LINE))
    throw new Refusal('Berth does not write the character U+0085 as YAML: go-yaml takes it for a line break');
  const emitter = new YamlEmitter();
  emit(emitter, decodeJson(json, numberWord), false);
  return emitter.text.endsWith('\n') ? emitter.text.slice(0, -1) : emitter.text;
}

function emit(emitter: YamlEmitter, value: Any, inMap: boolean): void {
  if (value === null) return emitter.writeWord('null');
  if (isString(value)) return emitter.writeText(value.data, false);
  if (isMap(value)) return emitMap(emitter, value.data);
  if (value.type.kind === 'slice') return emitList(emitter, value.data as readonly Any[], inMap);
  emitter.writeWord(String(value.data));
}

const NUMBER_WORD = { kind: 'float64', name: 'number as it is written' } as const;

/** A whole number in JSON is an integer in YAML, unless it is too large for 64 bits. */
function numberWord(text: string): Any {
  const resolved = resolveScalar(text);
  const word = resolved.tag === 'int' ? String(resolved.value) : formatFloat(Number(text), 'g', -1);
  return { type: NUMBER_WORD, data: word };
}

function emitList(emitter: YamlEmitter, list: readonly Any[], inMap: boolean): void {
  if (list.length === 0) return emitter.writeWord('[]');
  const before = emitter.indent;
  if (before < 0) emitter.indent = 0;
  else if (!(inMap && !emitter.indention)) emitter.indent += 2;
  for (const element of list) {
    emitter.writeIndent();
    emitter.writeIndicator('-', true, true);
    emit(emitter, element, false);
  }
  emitter.indent = before;
}

function emitMap(emitter: YamlEmitter, map: GoMap<Any> | null): void {
  if (map === null || map.size === 0) return emitter.writeWord('{}');
  const before = emitter.indent;
  emitter.indent = before < 0 ? 0 : before + 2;
  const entries = map.entries().map(([key, value]) => ({ key, value, runes: runesOf(key) }));
  for (const { key, value } of entries.sort((left, right) => compareKeys(left.runes, right.runes))) {
    emitter.writeIndent();
    if (emitter.isSimpleKey(key)) {
      emitter.writeText(key, true);
      emitter.writeIndicator(':', false);
    } else {
      emitter.writeIndicator('?', true, true);
      emitter.writeText(key, false);
      emitter.writeIndent();
      emitter.writeIndicator(':', true, true);
    }
    emit(emitter, value, true);
  }
  emitter.indent = before;
}

/** Compares keys as go-yaml does: digits in keys compare as numbers (sorter.go). */
function compareKeys(left: readonly number[], right: readonly number[]): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at++) {
    const [a, b] = [left[at] ?? 0, right[at] ?? 0];
    if (a === b) continue;
    const [aIsLetter, bIsLetter] = [isLetter(a), isLetter(b)];
    if (aIsLetter && bIsLetter) return a - b;
    if (aIsLetter || bIsLetter) return bIsLetter ? -1 : 1;
    return compareNumbers(left, right, at);
  }
  return left.length - right.length;
}

function compareNumbers(left: readonly number[], right: readonly number[], at: number): number {
  const first = [left[at] ?? 0, right[at] ?? 0];
  const lead = first.includes(0x30) && hasDigitBefore(left, at) ? 1n : 0n;
  const [a, aEnd] = digitsFrom(left, at, lead);
  const [b, bEnd] = digitsFrom(right, at, lead);
  if (a !== b) return a < b ? -1 : 1;
  return aEnd === bEnd ? (first[0] ?? 0) - (first[1] ?? 0) : aEnd - bEnd;
}

function hasDigitBefore(runes: readonly number[], at: number): boolean {
  for (let before = at - 1; before >= 0 && isDigit(runes[before] ?? 0); before--)
    if (runes[before] !== 0x30) return true;
  return false;
}

function digitsFrom(runes: readonly number[], at: number, lead: bigint): readonly [bigint, number] {
  let [value, end] = [lead, at];
  for (; end < runes.length && isDigit(runes[end] ?? 0); end++)
    value = BigInt.asIntN(64, value * 10n + BigInt((runes[end] ?? 0) - 0x30));
  return [value, end];
}

const ESCAPES: ReadonlyMap<number, string> = new Map([
  [0, '0'],
  [7, 'a'],
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [11, 'v'],
  [12, 'f'],
  [13, 'r'],
  [27, 'e'],
  [34, '"'],
  [92, '\\'],
  [0x85, 'N'],
  [0xa0, '_'],
  [0x2028, 'L'],
  [0x2029, 'P'],
]);

/** Lines are broken at the first space after this column. */
const WIDTH = 80;

/** Writes the scalars and the indentation of YAML as go-yaml v2 does (emitterc.go). */
class YamlEmitter {
  text = '';
  /** −1 before the first block. */
  indent = -1;
  /** Whether this line has only indentation so far. */
  indention = true;
  #column = 0;
  #whitespace = true;

  #put(char: string): void {
    this.text += char;
    this.#column++;
  }

  #break(char = '\n'): void {
    checkText(this.text.length >> 6);
    this.text += char;
    this.#column = 0;
  }

  writeIndent(): void {
    const indent = Math.max(this.indent, 0);
    if (!this.indention || this.#column > indent || (this.#column === indent && !this.#whitespace))
      this.#break();
    while (this.#column < indent) this.#put(' ');
    this.#whitespace = true;
    this.indention = true;
  }

  writeIndicator(indicator: string, needsSpace: boolean, staysIndention = false): void {
    if (needsSpace && !this.#whitespace) this.#put(' ');
    for (const char of indicator) this.#put(char);
    this.#whitespace = false;
    this.indention &&= staysIndention;
  }

  /** A number, a boolean or null. */
  writeWord(word: string): void {
    this.writeIndicator(word, true);
  }

  /** Whether a text can be the key before a colon in the same line. */
  isSimpleKey(bytes: string): boolean {
    return !analyzeScalar(bytes).multiline && bytes.length <= 128;
  }

  writeText(bytes: string, isKey: boolean): void {
    const { multiline, plain, singleQuoted, block } = analyzeScalar(bytes);
    const before = this.indent;
    this.indent = before < 0 ? 2 : before + 2;
    const isPlain = isPlainText(bytes);
    if (bytes.includes('\n') && block && !isKey) this.#literal(bytes);
    else if (bytes.includes('\n') || !isPlain || (isKey && multiline)) this.#doubleQuoted(bytes, !isKey);
    else if (plain) this.#plain(bytes, !isKey);
    else if (singleQuoted) this.#singleQuoted(bytes, !isKey);
    else this.#doubleQuoted(bytes, !isKey);
    this.indent = before;
  }

  #plain(bytes: string, mayBreak: boolean): void {
    if (!this.#whitespace) this.#put(' ');
    this.#folded(bytes, { mayBreak, isQuoted: false });
    this.#whitespace = false;
    this.indention = false;
  }

  #singleQuoted(bytes: string, mayBreak: boolean): void {
    this.writeIndicator("'", true);
    this.#folded(bytes, { mayBreak, isQuoted: true });
    this.writeIndicator("'", false);
    this.#whitespace = false;
    this.indention = false;
  }

  /** Writes a text whose lines may be broken at spaces and whose own line breaks are doubled. */
  #folded(
    bytes: string,
    { mayBreak, isQuoted }: { readonly mayBreak: boolean; readonly isQuoted: boolean },
  ): void {
    let [spaces, breaks] = [false, false];
    for (let at = 0; at < bytes.length; ) {
      const { rune, width } = decodeRune(bytes, at);
      const char = bytes.slice(at, at + width);
      if (char === ' ') {
        const inside = !isQuoted || (at > 0 && at < bytes.length - 1);
        if (mayBreak && !spaces && this.#column > WIDTH && inside && bytes[at + 1] !== ' ')
          this.writeIndent();
        else this.#put(' ');
        spaces = true;
      } else if (isBreak(rune)) {
        if (!breaks && char === '\n') this.#break();
        this.#break(char);
        this.indention = true;
        breaks = true;
      } else {
        if (breaks) this.writeIndent();
        if (isQuoted && char === "'") this.#put("'");
        this.#put(char);
        this.indention = false;
        [spaces, breaks] = [false, false];
      }
      at += width;
    }
  }

  #doubleQuoted(bytes: string, mayBreak: boolean): void {
    this.writeIndicator('"', true);
    const hasMark = bytes.startsWith('\xef\xbb\xbf');
    let spaces = false;
    for (let at = 0; at < bytes.length; ) {
      const { rune, width } = decodeRune(bytes, at);
      const char = bytes.slice(at, at + width);
      if (char === ' ' && !hasMark) {
        if (mayBreak && !spaces && this.#column > WIDTH && at > 0 && at < bytes.length - 1) {
          this.writeIndent();
          if (bytes[at + 1] === ' ') this.#put('\\');
        } else this.#put(' ');
        spaces = true;
      } else {
        const escape = hasMark || !isPrintable(rune, width) || isBreak(rune) || char === '"' || char === '\\';
        for (const part of escape ? escaped(rune) : [char]) this.#put(part);
        spaces = false;
      }
      at += width;
    }
    this.writeIndicator('"', false);
    this.#whitespace = false;
    this.indention = false;
  }

  #literal(bytes: string): void {
    this.writeIndicator('|', true);
    this.writeIndicator(literalHints(bytes), false);
    this.#break();
    this.indention = true;
    this.#whitespace = true;
    let breaks = true;
    for (let at = 0; at < bytes.length; ) {
      const { rune, width } = decodeRune(bytes, at);
      const char = bytes.slice(at, at + width);
      if (isBreak(rune)) {
        this.#break(char);
        this.indention = true;
        breaks = true;
      } else {
        if (breaks) this.writeIndent();
        this.#put(char);
        this.indention = false;
        breaks = false;
      }
      at += width;
    }
  }
}

/**
 * The indicators of a literal block: its indentation if the text starts with a space or a line
 * break, and the handling of final line breaks.
 */
function literalHints(bytes: string): string {
  const indent = bytes.startsWith(' ') || isBreak(decodeRune(bytes, 0).rune) ? '2' : '';
  const [last, before] = runesOf(bytes).slice(-2).reverse();
  if (last === undefined || !isBreak(last)) return `${indent}-`;
  return before === undefined || isBreak(before) ? `${indent}+` : indent;
}

function escaped(rune: number): string[] {
  const short = ESCAPES.get(rune);
  if (short !== undefined) return ['\\', short];
  const digits = rune <= 0xff ? 2 : rune <= 0xffff ? 4 : 8;
  return ['\\', digits === 2 ? 'x' : digits === 4 ? 'u' : 'U', ...hex(rune, digits).toUpperCase()];
}

/** The styles in which a text can be written (yaml_emitter_analyze_scalar). */
interface ScalarAnalysis {
  readonly multiline: boolean;
  readonly plain: boolean;
  readonly singleQuoted: boolean;
  readonly block: boolean;
}

/**
 * Whether YAML can write a character without an escape. Characters of four bytes need one, because
 * the emitter does not know them.
 */
function isPrintable(rune: number, width: number): boolean {
  if (width === 1) return rune === 0x0a || (rune >= 0x20 && rune <= 0x7e);
  return width < 4 && rune >= 0xa0 && rune !== 0xfeff && rune !== 0xfffe && rune !== 0xffff;
}

function isBreak(rune: number): boolean {
  return rune === 0x0a || rune === 0x0d || rune === 0x85 || rune === 0x2028 || rune === 0x2029;
}

function isBlank(bytes: string, at: number): boolean {
  return bytes[at] === ' ' || bytes[at] === '\t';
}

/** Whether a character at this place would have a special meaning in a block. */
function isIndicator(bytes: string, at: number, precededBySpace: boolean): boolean {
  const char = bytes[at] ?? '';
  const followedBySpace = at + 1 >= bytes.length || isBlank(bytes, at + 1);
  if (char === ':') return followedBySpace;
  if (at === 0) return '#,[]{}&*!|>\'"%@`'.includes(char) || ('?-'.includes(char) && followedBySpace);
  return char === '#' && precededBySpace;
}

function analyzeScalar(bytes: string): ScalarAnalysis {
  if (bytes === '') return { multiline: false, plain: true, singleQuoted: true, block: false };
  let indicators = /^(---|\.\.\.)/.test(bytes);
  const found = { breaks: false, special: false, breakSpace: false, spaceBreak: false };
  let [precededBySpace, previous] = [true, ''];
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    indicators ||= isIndicator(bytes, at, precededBySpace);
    found.special ||= !isPrintable(rune, width);
    const kind = rune === 0x20 ? 'space' : isBreak(rune) ? 'break' : '';
    found.breaks ||= kind === 'break';
    found.breakSpace ||= kind === 'space' && previous === 'break';
    found.spaceBreak ||= kind === 'break' && previous === 'space';
    precededBySpace = isBlank(bytes, at) || kind === 'break' || rune === 0;
    previous = kind;
    at += width;
  }
  const edges = /^[ \n\r]|[ \n\r]$|^(\xc2\x85|\xe2\x80[\xa8\xa9])|(\xc2\x85|\xe2\x80[\xa8\xa9])$/.test(bytes);
  const odd = found.spaceBreak || found.special;
  return {
    multiline: found.breaks,
    plain: !(edges || found.breakSpace || odd || found.breaks || indicators),
    singleQuoted: !(found.breakSpace || odd),
    block: !(bytes.endsWith(' ') || odd),
  };
}
