import type { JsonValue } from '../json/json-value.ts';
import { chargeText } from '../json/work-budget.ts';
import { cutText } from '../wire/status-error.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface JsonShape {
  /** An upper bound of the number of values. */
  readonly values: number;
  /** Keys of all objects. */
  readonly keys: number;
  /** Deepest nesting of objects and lists. */
  readonly depth: number;
}

/**
 * The size of the value of a JSON text, without parsing it: the engine's parser cannot be
 * interrupted, and takes fifty times as long for three megabytes of brackets as for three megabytes
 * of text. It never fails; for a text that is not JSON the result is arbitrary.
 */
export function jsonShape(text: string): JsonShape {
  let values = 1;
  let keys = 0;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at);
        if (at < 0) return { values, keys, depth: deepest };
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values += 1;
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
      case COLON:
        keys += 1;
        break;
      default:
    }
  }
  return { values, keys, depth: deepest };
}

interface Level {
  /** Undefined for lists. */
  readonly keys: Map<string, 'once' | 'again'> | undefined;
  index: number;
  key: string;
  expectsKey: boolean;
}

const CHARACTERS_PER_STEP = 16;

/**
 * Paths of duplicate keys in a JSON text, e.g. `spec.x` or `items[0].name`; the first hundred, each
 * cut to a length that fits into a message. It runs on every strictly validated write, and nearly
 * no text has duplicates. The parser keeps one of two equal keys, so a text with as many keys as
 * its value has no duplicates.
 * @param value what the text parses to
 */
export function duplicateFields(text: string, value: JsonValue): readonly string[] {
  chargeText(text.length, CHARACTERS_PER_STEP);
  return jsonShape(text).keys === countKeys(value) ? [] : findDuplicates(text);
}

function countKeys(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) for (const item of value) keys += countKeys(item);
  else for (const key in value) keys += 1 + countKeys(value[key] as JsonValue);
  return keys;
}

/** As many as the API server's decoder reports (sigs.k8s.io/json, saveStrictError). */
const MAX_REPORTED = 100;
/** Below a duplicate key the same path may be found many times. */
const MAX_FOUND = 1_000;

function findDuplicates(text: string): readonly string[] {
  const found = new Set<string>();
  let findings = 0;
  const stack: Level[] = [];
  let level: Level | undefined;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = closingQuote(text, at);
        if (level?.expectsKey === true && recordKey(level, keyBetween(text, at, end))) {
          found.add(pathOf(stack));
          findings += 1;
          if (found.size >= MAX_REPORTED || findings >= MAX_FOUND) return [...found];
        }
        at = end;
        break;
      }
      case OPEN_OBJECT:
        level = { keys: new Map(), index: 0, key: '', expectsKey: true };
        stack.push(level);
        break;
      case OPEN_LIST:
        level = { keys: undefined, index: 0, key: '', expectsKey: false };
        stack.push(level);
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        stack.pop();
        level = stack[stack.length - 1];
        break;
      case COMMA:
        if (level !== undefined) {
          level.index += 1;
          level.expectsKey = level.keys !== undefined;
        }
        break;
      default:
    }
  }
  return [...found];
}

/** @returns whether this is the second key with its name; further ones are not reported */
function recordKey(level: Level, key: string): boolean {
  level.key = key;
  level.expectsKey = false;
  const known = level.keys?.get(key);
  if (known === 'again') return false;
  level.keys?.set(key, known === undefined ? 'once' : 'again');
  return known === 'once';
}

function keyBetween(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

const MAX_KEY_LENGTH = 256;
const MAX_PATH_LENGTH = 1_024;

function pathOf(stack: readonly Level[]): string {
  let path = '';
  for (const level of stack) {
    const key = cutText(level.key, MAX_KEY_LENGTH);
    if (level.keys === undefined) path += `[${String(level.index)}]`;
    else path += path === '' ? key : `.${key}`;
    if (path.length > MAX_PATH_LENGTH) return cutText(path, MAX_PATH_LENGTH);
  }
  return path;
}

/** Index of the quote that closes the JSON string opened at `start`; -1 if there is none. */
function closingQuote(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

const BACKSLASH = 0x5c;

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
