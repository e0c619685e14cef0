import { InputError } from '@berth/runtime/errors';

/** A parsed template: literal text and `{…}` actions in turn. Immutable; keep it and use it again. */
export interface JsonPathTemplate {
  readonly source: string;
  readonly nodes: readonly PathNode[];
}

export type ParsedJsonPath =
  | { readonly ok: true; readonly template: JsonPathTemplate }
  | { readonly ok: false; readonly error: string };

/** Longer templates are rejected, which also limits the nesting of filters. */
const MAX_TEMPLATE_LENGTH = 16_384;

/**
 * Reads a JSONPath template the way kubectl does (`{.spec.replicas}`, `{range .items[*]}{.kind}{end}`), including its
 * leniency: `$` and `@` are ignored, a key with a dot is written `\.`, only single quotes make a key in brackets,
 * filters know one comparison and no `&&`. The rules are those of Kubernetes' client library; general JSONPath
 * libraries differ in almost every one of these points, which is why this is our own.
 */
export function parseJsonPath(template: string): ParsedJsonPath {
  if (template.length > MAX_TEMPLATE_LENGTH)
    return { ok: false, error: `the path is longer than ${MAX_TEMPLATE_LENGTH} characters` };
  try {
    return { ok: true, template: { source: template, nodes: new Parser(template, 0).parseText() } };
  } catch (error) {
    if (error instanceof SyntaxProblem) return { ok: false, error: error.problem };
    throw error;
  }
}

class SyntaxProblem extends InputError {
  readonly problem: string;

  constructor(problem: string) {
    super(problem, { code: 'jsonpath.syntax', subject: 'JSONPath' });
    this.problem = problem;
  }
}

const END = '';
const DICT_KEY = /^'([^']*)'$/;
const SLICE = /^(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$/;
const COMPARISON = /^([^!<>=]+)([!<>=]+)(.+?)$/;
const TERMINATORS = new Set([END, ' ', '\t', '\r', '\n', '.', ',', '[', ']', '$', '@', '{', '}']);
const WORD = /^[\p{L}\p{Nd}_]$/u;
const DIGIT = /^\p{Nd}$/u;

const MAX_DEPTH = 64;

class Parser {
  private readonly chars: readonly string[];
  private readonly depth: number;
  private at = 0;
  /** Where the token being read began. */
  private start = 0;

  constructor(input: string, depth: number) {
    if (depth > MAX_DEPTH) throw new SyntaxProblem(`filters and unions nest deeper than ${MAX_DEPTH}`);
    this.chars = Array.from(input);
    this.depth = depth;
  }

  /** The top level: text up to a brace, then an action, and so on. */
  parseText(): readonly PathNode[] {
    const nodes: PathNode[] = [];
    while (this.at < this.chars.length) {
      if (this.chars[this.at] !== '{') {
        this.at += 1;
        continue;
      }
      if (this.at > this.start) nodes.push({ type: 'text', text: this.take() });
      this.at += 1;
      this.take();
      nodes.push(this.parseAction());
    }
    if (this.at > this.start) nodes.push({ type: 'text', text: this.take() });
    return nodes;
  }

  private parseAction(): ListNode {
    const nodes: PathNode[] = [];
    while (!this.startsWith('}')) this.parseStep(nodes);
    this.at += 1;
    this.take();
    return { type: 'list', nodes };
  }

  private parseStep(nodes: PathNode[]): void {
    if (this.startsWith('[?(')) return void nodes.push(this.parseFilter());
    if (this.startsWith('..')) return this.parseRecursive(nodes);
    const char = this.next();
    if (char === END || char === '\r' || char === '\n') throw new SyntaxProblem('unclosed action');
    if (char === ' ' || char === '@' || char === '$') this.take();
    else if (char === '[') this.parseBrackets(nodes);
    else if (char === '"' || char === "'") nodes.push(this.parseQuote(char));
    else if (char === '.') nodes.push(this.parseField());
    else if (char === '+' || char === '-' || DIGIT.test(char)) nodes.push(this.parseNumber(char));
    else if (WORD.test(char)) nodes.push(this.parseIdentifier());
    else throw new SyntaxProblem(`unrecognized character in action: ${describe(char)}`);
  }

  private parseRecursive(nodes: PathNode[]): void {
    if (nodes.at(-1)?.type === 'recursive') throw new SyntaxProblem('invalid multiple recursive descent');
    this.at += 2;
    this.take();
    nodes.push({ type: 'recursive' });
    if (WORD.test(this.peek())) nodes.push(this.parseField());
  }

  private parseField(): PathNode {
    this.take();
    for (;;) {
      const char = this.peek();
      if (TERMINATORS.has(char)) break;
      this.at += char === '\\' ? 2 : 1;
    }
    this.at = Math.min(this.at, this.chars.length);
    const name = this.take();
    return name === '*' ? { type: 'wildcard' } : { type: 'field', name: name.replaceAll('\\', '') };
  }

  private parseNumber(first: string): PathNode {
    while (this.peek() === '.' || DIGIT.test(this.peek())) this.at += 1;
    const text = this.take();
    if (/^[+-]?[0-9]+$/.test(text)) {
      const integer = BigInt(first === '+' ? text.slice(1) : text);
      if (BigInt.asIntN(64, integer) === integer)
        return {
          type: 'integer',
          value: Number.isSafeInteger(Number(integer)) ? Number(integer) : integer,
        };
    }
    if (/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$/.test(text) && Number.isFinite(Number(text)))
      return { type: 'float', value: Number(text) };
    throw new SyntaxProblem(`cannot parse number ${text}`);
  }

  private parseIdentifier(): PathNode {
    while (!TERMINATORS.has(this.peek())) this.at += 1;
    const name = this.take();
    if (name === 'true' || name === 'false') return { type: 'boolean', value: name === 'true' };
    return { type: 'identifier', name };
  }

  private parseQuote(quote: string): PathNode {
    for (;;) {
      const char = this.next();
      if (char === END || char === '\n') throw new SyntaxProblem('unterminated quoted string');
      if (char === quote && this.chars[this.at - 2] !== '\\') break;
    }
    const literal = this.take();
    const text = unquote(literal);
    if (text === undefined) throw new SyntaxProblem(`unquote string ${literal} error invalid syntax`);
    return { type: 'text', text };
  }

  private parseBrackets(nodes: PathNode[]): void {
    for (let char = this.next(); char !== ']'; char = this.next())
      if (char === END || char === '\n') throw new SyntaxProblem('unterminated array');
    const inside = this.take().slice(1, -1);
    const parts = inside.split(',');
    if (parts.length > 1) {
      nodes.push({
        type: 'union',
        lists: parts.map((part) => this.inner(`[${part.replace(/^ +| +$/g, '')}]`)),
      });
      return;
    }
    const key = DICT_KEY.exec(inside);
    if (key !== null) nodes.push(...this.inner(`.${key[1] as string}`).nodes);
    else nodes.push(parseSlice(inside === '*' ? ':' : inside));
  }

  private parseFilter(): PathNode {
    this.at += 3;
    this.take();
    this.skipToFilterEnd();
    if (this.next() !== ']') throw new SyntaxProblem('unclosed array expect ]');
    const text = this.take().slice(0, -2);
    const comparison = COMPARISON.exec(text);
    if (comparison === null)
      return {
        type: 'filter',
        left: this.inner(text),
        right: { type: 'list', nodes: [] },
        operator: 'exists',
      };
    const [, left, operator, right] = comparison as unknown as [string, string, string, string];
    return { type: 'filter', left: this.inner(left), right: this.inner(right), operator };
  }

  /** A filter ends at the first `)` outside of its one quoted text. */
  private skipToFilterEnd(): void {
    let quote: string | undefined;
    let closed = false;
    for (;;) {
      const char = this.next();
      if (char === END || char === '\n') throw new SyntaxProblem('unterminated filter');
      if (char === '"' || char === "'") {
        if (quote === undefined) quote = char;
        else if (char === quote && this.chars[this.at - 2] !== '\\') closed = true;
      } else if (char === ')' && (quote === undefined || closed)) return;
    }
  }

  /** Parses a part as an action of its own; text after a brace in it is ignored. */
  private inner(text: string): ListNode {
    const first = new Parser(`{${text}}`, this.depth + 1).parseText()[0];
    return first?.type === 'list' ? first : { type: 'list', nodes: [] };
  }

  private startsWith(prefix: string): boolean {
    return this.chars.slice(this.at, this.at + prefix.length).join('') === prefix;
  }

  private peek(): string {
    return this.chars[this.at] ?? END;
  }

  private next(): string {
    const char = this.peek();
    if (char !== END) this.at += 1;
    return char;
  }

  private take(): string {
    const text = this.chars.slice(this.start, this.at).join('');
    this.start = this.at;
    return text;
  }
}

function parseSlice(text: string): PathNode {
  const match = SLICE.exec(text);
  if (match === null) throw new SyntaxProblem(`invalid array index ${text}`);
  const from = parseBound(match[1]);
  const to: SliceBound =
    match[2] === undefined || match[2] === ''
      ? { known: true, value: (from.known ? from.value : 0) + 1, derived: true }
      : parseBound(match[2].slice(1));
  return { type: 'slice', from, to, step: parseBound(match[3]?.slice(1)) };
}

function parseBound(text: string | undefined): SliceBound {
  if (text === undefined || text === '') return { known: false };
  const value = Number(text);
  if (text === '-' || !Number.isSafeInteger(value))
    throw new SyntaxProblem(`array index ${text} is not a number`);
  return { known: true, value };
}

function describe(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `U+${code} '${char}'`;
}

/**
 * The text of a Go-style literal in single or double quotes; undefined when it is not one. An escaped quote
 * must be the kind that encloses the literal.
 */
function unquote(literal: string): string | undefined {
  const quote = literal[0];
  if (literal.length < 2 || (quote !== '"' && quote !== "'") || literal.at(-1) !== quote) return undefined;
  const body = literal.slice(1, -1);
  let text = '';
  let at = 0;
  while (at < body.length) {
    const char = body[at] as string;
    if (char === quote || char === '\n') return undefined;
    if (char !== '\\') {
      text += char;
      at += 1;
      continue;
    }
    const escape = readEscape(body, at + 1, quote);
    if (escape === undefined) return undefined;
    text += escape.text;
    at = escape.end;
  }
  return text;
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function readEscape(
  body: string,
  at: number,
  quote: string,
): { readonly text: string; readonly end: number } | undefined {
  const char = body[at];
  if (char === undefined) return undefined;
  if (char === quote) return { text: quote, end: at + 1 };
  if (Object.hasOwn(SIMPLE, char)) return { text: SIMPLE[char] as string, end: at + 1 };
  if (Object.hasOwn(HEX_DIGITS, char)) {
    const end = at + 1 + (HEX_DIGITS[char] as number);
    return codePoint(body.slice(at + 1, end), 16, end - at - 1, end);
  }
  return codePoint(body.slice(at, at + 3), 8, 3, at + 3);
}

function codePoint(
  digits: string,
  radix: 8 | 16,
  length: number,
  end: number,
): { readonly text: string; readonly end: number } | undefined {
  const allowed = radix === 8 ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/;
  if (digits.length !== length || !allowed.test(digits)) return undefined;
  const code = Number.parseInt(digits, radix);
  const limit = radix === 8 ? 0xff : 0x10ffff;
  if (code > limit || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  return { text: String.fromCodePoint(code), end };
}

/**
 * A node of a parsed JSONPath template, with the node types of client-go. A list holds the nodes between braces, or one operand of
 * a filter. Source: k8s.io/client-go, util/jsonpath/node.go.
 */
export type PathNode =
  | { readonly type: 'list'; readonly nodes: readonly PathNode[] }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'slice'; readonly from: SliceBound; readonly to: SliceBound; readonly step: SliceBound }
  | {
      readonly type: 'filter';
      readonly left: ListNode;
      readonly right: ListNode;
      readonly operator: string;
    }
  | { readonly type: 'integer'; readonly value: number | bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'identifier'; readonly name: string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'recursive' }
  | { readonly type: 'union'; readonly lists: readonly ListNode[] };

export interface ListNode {
  readonly type: 'list';
  readonly nodes: readonly PathNode[];
}

/** A bound of a slice. `known: false`: the bound is omitted. `derived`: the end of an index `[n]`, which is a slice from n to n + 1. */
export type SliceBound =
  | { readonly known: false }
  | { readonly known: true; readonly value: number; readonly derived?: true };
