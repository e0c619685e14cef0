import { TemplateError, TemplateRefusal } from '@berth/go-template/values';
import { yamlToJson } from '@berth/go-template/yaml-to-json';
import { NotRendered } from '../failure/failures.ts';
import { wellFormed } from '@berth/runtime/json/go-json-text';
import { type JsonValue, setKey } from './json-value.ts';

/** JSON as written: keys keep their order, repeated keys are kept, and numbers are text. */
export type JsonNode =
  | { readonly kind: 'literal'; readonly value: null | boolean | string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, JsonNode])[] };

/**
 * A problem of a JSON text. `end`: the text ended too early. `readTo`: how far the text had to be
 * read.
 */
export type JsonProblem =
  | { readonly problem: 'end'; readonly empty: boolean }
  | { readonly problem: 'syntax'; readonly message: string; readonly readTo: number };

export type ParsedJson = { readonly node: JsonNode; readonly end: number } | JsonProblem;

/** Reads the first JSON value of a text as the decoder of Go does, with the same error texts. */
export function parseFirstJson(text: string): ParsedJson {
  const parser = new Parser(text);
  try {
    return { node: parser.value('looking for beginning of value'), end: parser.at };
  } catch (error) {
    if (error instanceof Stop) return error.problem;
    throw error;
  }
}

/**
 * The error of Go for text after a value that should be the whole text; undefined if there is none.
 */
export function trailingProblem(text: string, end: number): string | undefined {
  const rest = text.slice(end).replace(/^[ \t\r\n]+/, '');
  return rest === '' ? undefined : `invalid character ${quoteCharacter(rest)} after top-level value`;
}

export function toJsonValue(node: JsonNode): JsonValue {
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'number':
      return Number(node.text);
    case 'array':
      return node.items.map(toJsonValue);
    case 'object': {
      const object: Record<string, JsonValue> = {};
      for (const [key, item] of node.entries) setKey(object, key, toJsonValue(item));
      return object;
    }
  }
}

class Stop extends Error {
  readonly problem: JsonProblem;

  constructor(problem: JsonProblem) {
    super(problem.problem);
    this.problem = problem;
  }
}

const LITERALS: Readonly<Record<string, null | boolean>> = { true: true, false: false, null: null };
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class Parser {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(context: string): JsonNode {
    const start = this.#next();
    if (start === '{') return this.#object();
    if (start === '[') return this.#array();
    if (start === '"') return { kind: 'literal', value: this.#string() };
    if (start === '-' || isDigit(start)) return { kind: 'number', text: this.#number() };
    const word = Object.keys(LITERALS).find((name) => name.startsWith(start));
    if (word === undefined) return this.#refuse(context);
    return { kind: 'literal', value: this.#literal(word) };
  }

  #object(): JsonNode {
    const entries: [string, JsonNode][] = [];
    this.at += 1;
    if (this.#next() === '}') {
      this.at += 1;
      return { kind: 'object', entries };
    }
    for (;;) {
      if (this.#next() !== '"') return this.#refuse('looking for beginning of object key string');
      const key = this.#string();
      if (this.#next() !== ':') return this.#refuse('after object key');
      this.at += 1;
      entries.push([key, this.value('looking for beginning of value')]);
      const after = this.#next();
      if (after !== ',' && after !== '}') return this.#refuse('after object key:value pair');
      this.at += 1;
      if (after === '}') return { kind: 'object', entries };
    }
  }

  #array(): JsonNode {
    const items: JsonNode[] = [];
    this.at += 1;
    if (this.#next() === ']') {
      this.at += 1;
      return { kind: 'array', items };
    }
    for (;;) {
      items.push(this.value('looking for beginning of value'));
      const after = this.#next();
      if (after !== ',' && after !== ']') return this.#refuse('after array element');
      this.at += 1;
      if (after === ']') return { kind: 'array', items };
    }
  }

  #string(): string {
    let text = '';
    this.at += 1;
    for (;;) {
      const character = this.#character();
      if (character === '"') {
        this.at += 1;
        return wellFormed(text);
      }
      if (character < ' ') return this.#refuse('in string literal');
      this.at += 1;
      text += character === '\\' ? this.#escape() : character;
    }
  }

  #escape(): string {
    const code = this.#character();
    const plain = ESCAPES[code];
    if (plain === undefined && code !== 'u') return this.#refuse('in string escape code');
    this.at += 1;
    if (plain !== undefined) return plain;
    const from = this.at;
    for (; this.at < from + 4; this.at += 1)
      if (!/[0-9a-fA-F]/.test(this.#character())) return this.#refuse('in \\u hexadecimal character escape');
    return String.fromCharCode(Number.parseInt(this.#text.slice(from, this.at), 16));
  }

  #number(): string {
    const from = this.at;
    if (this.#text[this.at] === '-') this.at += 1;
    if (!isDigit(this.#character())) return this.#refuse('in numeric literal');
    if (this.#text[this.at] === '0') this.at += 1;
    else this.#digits();
    if (this.#text[this.at] === '.') {
      this.at += 1;
      if (!isDigit(this.#character())) return this.#refuse('after decimal point in numeric literal');
      this.#digits();
    }
    if (/[eE]/.test(this.#text[this.at] ?? '')) {
      this.at += 1;
      if (/[+-]/.test(this.#character())) this.at += 1;
      if (!isDigit(this.#character())) return this.#refuse('in exponent of numeric literal');
      this.#digits();
    }
    return this.#text.slice(from, this.at);
  }

  #digits(): void {
    while (isDigit(this.#text[this.at] ?? '')) this.at += 1;
  }

  #literal(word: string): null | boolean {
    for (const expected of word) {
      if (this.#character() !== expected)
        return this.#refuse(`in literal ${word} (expecting ${quoteCharacter(expected)})`);
      this.at += 1;
    }
    return LITERALS[word] as null | boolean;
  }

  /** The next character that is not a space. */
  #next(): string {
    while (/[ \t\r\n]/.test(this.#text[this.at] ?? '')) this.at += 1;
    return this.#character();
  }

  #character(): string {
    const character = this.#text[this.at];
    if (character === undefined) throw new Stop({ problem: 'end', empty: this.#text.trim() === '' });
    return character;
  }

  #refuse(context: string): never {
    const message = `invalid character ${quoteCharacter(this.#text.slice(this.at))} ${context}`;
    throw new Stop({ problem: 'syntax', message, readTo: this.at });
  }
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

/**
 * A character in the error texts of Go. Go reads bytes: it names the first byte of a character
 * outside of ASCII.
 */
function quoteCharacter(text: string): string {
  const byte = Buffer.from(String.fromCodePoint(text.codePointAt(0) ?? 0)).at(0) ?? 0;
  if (byte === 0x27) return "'\\''";
  if (byte === 0x22) return "'\"'";
  const short: Readonly<Record<number, string>> = {
    7: '\\a',
    8: '\\b',
    9: '\\t',
    10: '\\n',
    11: '\\v',
    12: '\\f',
    13: '\\r',
    92: '\\\\',
  };
  if (short[byte] !== undefined) return `'${short[byte]}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`;
  if (byte >= 0x80 && byte < 0xa1) return `'\\u${byte.toString(16).padStart(4, '0')}'`;
  return `'${String.fromCharCode(byte)}'`;
}

type ParsedYaml =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: string };

/** The first document of a YAML text as JSON, as Argo CD reads it, or the error text of Go. */
export function parseYamlAsGo(text: string): ParsedYaml {
  try {
    return { ok: true, value: JSON.parse(yamlToJson(text)) as JsonValue };
  } catch (error) {
    if (error instanceof TemplateRefusal) throw new NotRendered(error.message, { cause: error });
    if (error instanceof TemplateError) return { ok: false, error: error.message };
    throw error;
  }
}
