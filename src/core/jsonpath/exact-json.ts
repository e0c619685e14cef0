import { InputError } from '../errors.ts';
import { JsonFloat } from './json-float.ts';

/**
 * Reads JSON without losing what a double cannot hold: whole numbers beyond 2^53 become bigint, numbers that were
 * written with a point or an exponent become JsonFloat. Whole numbers beyond 64 bits are floats, `-0` is the whole number 0.
 * `__proto__` is a key like any other. Throws InputError `json.syntax`.
 */
export function parseExactJson(text: string): unknown {
  // The platform's parser checks the grammar; what follows may then rely on it.
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new InputError('not valid JSON', { code: 'json.syntax', subject: 'JSON text', cause });
  }
  const reader = { text, at: 0 };
  return readValue(reader);
}

interface Reader {
  readonly text: string;
  at: number;
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
  return /^[-0-9]/.test(token) ? readNumber(token) : JSON.parse(token);
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

function readNumber(token: string): number | bigint | JsonFloat {
  if (!/^-?[0-9]+$/.test(token)) return new JsonFloat(Number(token));
  const whole = BigInt(token);
  if (BigInt.asIntN(64, whole) !== whole) return new JsonFloat(Number(token));
  const plain = Number(whole);
  return Number.isSafeInteger(plain) ? plain : whole;
}
