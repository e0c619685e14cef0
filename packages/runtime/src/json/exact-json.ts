import { InputError } from '../errors.ts';
import { JsonFloat } from './json-float.ts';

/**
 * Reads JSON without losing what a double cannot hold: whole numbers beyond 2^53 become bigint, numbers that were
 * written with a point or an exponent become JsonFloat. Whole numbers beyond 64 bits are floats, `-0` is the whole number 0.
 * `__proto__` is a key like any other. The conformance tests read what Go recorded with it, where 1 and 1.0 differ.
 * @internal
 * @throws InputError `json.syntax`
 */
export function parseExactJson(text: string): unknown {
  // The platform's parser checks the grammar; what follows may then rely on it.
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new InputError('not valid JSON', { code: 'json.syntax', subject: 'JSON text', cause });
  }
  return readValue({ text, at: 0, number: exactNumber });
}

/**
 * Matches a whole number that may be too long for a double; a match in a string only costs time.
 */
const LONG_NUMBER = /(?:^|[\s:,[])-?\d{16}/;

/**
 * As JSON.parse, but whole numbers between 2^53 and 2^63 become bigint instead of the nearest
 * double. Costs a search of the text; only a text with such a number is parsed by this module.
 * @throws SyntaxError as JSON.parse
 */
export function parseExactIntegers(text: string): unknown {
  const rounded: unknown = JSON.parse(text);
  if (!LONG_NUMBER.test(text)) return rounded;
  try {
    return readValue({ text, at: 0, number: exactInteger });
  } catch (error) {
    // Nested too deep for recursion. The platform's parser can read it, with rounded numbers.
    if (error instanceof RangeError) return rounded;
    throw error;
  }
}

interface Reader {
  readonly text: string;
  at: number;
  readonly number: (token: string) => unknown;
}

const BLANK = /[ \t\r\n]*/y;
const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s,\]}:[{]+|[[\]{}:,]/y;

function readToken(reader: Reader): string {
  BLANK.lastIndex = reader.at;
  BLANK.exec(reader.text);
  TOKEN.lastIndex = BLANK.lastIndex;
  const token = TOKEN.exec(reader.text)?.[0] ?? '';
  reader.at = TOKEN.lastIndex;
  return token;
}

function readValue(reader: Reader, token = readToken(reader)): unknown {
  if (token === '[') return readList(reader);
  if (token === '{') return readMap(reader);
  return /^[-0-9]/.test(token) ? reader.number(token) : JSON.parse(token);
}

function readList(reader: Reader): unknown[] {
  const list: unknown[] = [];
  for (let token = readToken(reader); token !== ']'; token = readToken(reader))
    if (token !== ',') list.push(readValue(reader, token));
  return list;
}

function readMap(reader: Reader): object {
  const map = {};
  for (let token = readToken(reader); token !== '}'; token = readToken(reader)) {
    if (token === ',') continue;
    readToken(reader);
    const value = readValue(reader);
    const key = JSON.parse(token) as string;
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return map;
}

function exactNumber(token: string): number | bigint | JsonFloat {
  const whole = int64(token);
  if (whole === undefined) return new JsonFloat(Number(token));
  const plain = Number(whole);
  return Number.isSafeInteger(plain) ? plain : whole;
}

function exactInteger(token: string): number | bigint {
  const plain = Number(token);
  return Number.isSafeInteger(plain) ? plain : (int64(token) ?? plain);
}

/** Undefined for a float, or a number that does not fit 64 bits. */
function int64(token: string): bigint | undefined {
  if (!/^-?[0-9]+$/.test(token)) return undefined;
  const whole = BigInt(token);
  return BigInt.asIntN(64, whole) === whole ? whole : undefined;
}
