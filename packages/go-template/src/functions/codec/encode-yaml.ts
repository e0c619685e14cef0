import { formatFloat } from '../../fmt/format-float.ts';
import { runesOf } from '../../text/bytes.ts';
import { isDigit, isLetter } from '../../text/unicode.ts';
import { GoError, Refusal } from '../../value/go-error.ts';
import type { GoMap } from '../../value/go-map.ts';
import { isMap } from '../../value/go-map.ts';
import type { Any } from '../../value/go-type.ts';
import { isString } from '../../value/go-type.ts';
import { decodeJson } from './decode-json.ts';
import { encodeJson } from './encode-json.ts';
import { resolveScalar } from './resolve-scalar.ts';
import { YamlEmitter } from './yaml-emitter.ts';

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
