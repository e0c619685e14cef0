import { resolvePlainScalar, UnrepresentableScalarError } from '@berth/kube/yaml/scalar';

/**
 * Reads the YAML that most manifests consist of, in 0.6 of the processor time of the full parser
 * (test/bench/block-reader.bench.mjs): without it the first ingest misses its target in
 * docs/performance.md. Block mappings and lists, plain and quoted scalars on one line, literal
 * blocks, one-line lists of plain words, comments; ASCII, no tabs. It reports no errors: at the
 * first construct outside of this subset (anchors, tags, flow mappings, escapes, folded blocks,
 * duplicate keys, odd indentation) it stops, and the full parser reads the document. A property
 * test compares both. Rejected: worker threads, whose copying costs as much as they save on two
 * cores.
 */
export function readPlainBlock(text: string): { readonly value: unknown } | undefined {
  if (text.length > MAX_LENGTH || NOT_PLAIN.test(text)) return undefined;
  const reader = new BlockReader(text);
  const value = reader.document();
  return reader.gaveUp ? undefined : { value };
}

/** Short enough that no limit on nodes, keys or bytes can be exceeded. */
export const MAX_LENGTH = 30_000;
const MAX_DEPTH = 60;
const NOT_PLAIN = /[^\n\x20-\x7e]/;

/** First characters of a plain scalar that have no other meaning; a dash only if the next character is not a space. */
const PLAIN_START = /[A-Za-z0-9_./~+$]|-[^ \n]/y;
const PLAIN_WORDS = /^[A-Za-z0-9_./+-]+(?:, *[A-Za-z0-9_./+-]+)*$/;

class BlockReader {
  gaveUp = false;
  readonly #text: string;
  /** The current line, which is neither blank nor a comment: indentation, start of content, end. -1 after the last line. */
  #indent = -1;
  #start = 0;
  #end = -1;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    this.#next(0);
    if (this.#indent === 0 && this.#text.startsWith('---', this.#start)) {
      if (this.#end - this.#start !== 3) return this.#giveUp();
      this.#next(this.#end + 1);
    }
    if (this.#indent !== 0) return this.#giveUp();
    const value = this.#mapping(0, 0);
    return this.#ended() ? value : this.#giveUp();
  }

  #ended(): boolean {
    return this.#indent === -1;
  }

  #giveUp(): undefined {
    this.gaveUp = true;
    this.#indent = -1;
    return undefined;
  }

  /** Moves to the next line with content, from the start of a line. */
  #next(from: number): void {
    const text = this.#text;
    for (let at = from; at < text.length; ) {
      const newline = text.indexOf('\n', at);
      const end = newline === -1 ? text.length : newline;
      let start = at;
      while (start < end && text.charCodeAt(start) === 0x20) start++;
      const first = text.charCodeAt(start);
      if (start < end && first !== 0x23) {
        this.#indent = start - at;
        this.#start = start;
        this.#end = end;
        // Document markers and directives were removed before. At this place they would mean something else.
        if (this.#indent === 0 && (first === 0x25 || text.startsWith('...', start))) this.#giveUp();
        return;
      }
      at = end + 1;
    }
    this.#indent = -1;
  }

  /** A mapping whose first key is at `#start`, in column `indent`. */
  #mapping(indent: number, depth: number): unknown {
    if (depth > MAX_DEPTH) return this.#giveUp();
    const result: Record<string, unknown> = {};
    const keys: string[] = [];
    do {
      const key = keyAt(this.#text, this.#start);
      if (key === undefined || key === '__proto__' || keys.includes(key)) return this.#giveUp();
      keys.push(key);
      result[key] = this.#value(this.#start + key.length + 1, indent, depth);
      if (this.#indent > indent) return this.#giveUp();
    } while (this.#indent === indent && !this.#atDash());
    return result;
  }

  /** A list whose first dash is at `#start`, in column `indent`. */
  #list(indent: number, depth: number): unknown {
    if (depth > MAX_DEPTH) return this.#giveUp();
    const result: unknown[] = [];
    do {
      let start = this.#start + 1;
      while (this.#text.charCodeAt(start) === 0x20) start++;
      if (start >= this.#end) return this.#giveUp();
      if (keyAt(this.#text, start) !== undefined) {
        const column = indent + (start - this.#start);
        this.#start = start;
        this.#indent = column;
        result.push(this.#mapping(column, depth + 1));
      } else {
        const first = this.#text.charCodeAt(start);
        if (first === 0x23 || first === 0x7c) return this.#giveUp();
        result.push(this.#inline(start));
        this.#next(this.#end + 1);
      }
      if (this.#indent > indent) return this.#giveUp();
    } while (this.#indent === indent && this.#atDash());
    return result;
  }

  #atDash(): boolean {
    if (this.#text.charCodeAt(this.#start) !== 0x2d) return false;
    const after = this.#text.charCodeAt(this.#start + 1);
    return after === 0x20 || after === 0x0a || this.#start + 1 >= this.#text.length;
  }

  /** The value after `key:`, on its line or below. */
  #value(from: number, indent: number, depth: number): unknown {
    let start = from;
    while (this.#text.charCodeAt(start) === 0x20) start++;
    const first = this.#text.charCodeAt(start);
    if (start < this.#end && first !== 0x23) {
      if (first === 0x7c) return this.#literal(start, indent);
      const value = this.#inline(start);
      this.#next(this.#end + 1);
      return value;
    }
    this.#next(this.#end + 1);
    if (this.#indent === -1 || this.#indent < indent) return null;
    if (this.#atDash()) return this.#list(this.#indent, depth + 1);
    return this.#indent === indent ? null : this.#mapping(this.#indent, depth + 1);
  }

  /** A scalar or a flow list of words on one line. */
  #inline(start: number): unknown {
    const text = this.#text;
    const first = text.charCodeAt(start);
    if (first === 0x22 || first === 0x27) return this.#quoted(start, text[start] ?? '');
    const line = text.slice(start, this.#end);
    const comment = line.indexOf(' #');
    const scalar = (comment === -1 ? line : line.slice(0, comment)).trimEnd();
    if (first === 0x5b) return this.#words(scalar);
    if (scalar === '{}') return {};
    PLAIN_START.lastIndex = start;
    if (!PLAIN_START.test(text) || scalar.includes(': ') || scalar.endsWith(':')) return this.#giveUp();
    return this.#plain(scalar);
  }

  #plain(scalar: string): unknown {
    try {
      return resolvePlainScalar(scalar);
    } catch (error) {
      if (error instanceof UnrepresentableScalarError) return this.#giveUp();
      throw error;
    }
  }

  /** `[]` or `[a, b]` of words without YAML indicators. */
  #words(list: string): unknown {
    if (!list.endsWith(']')) return this.#giveUp();
    const inner = list.slice(1, -1).trim();
    if (inner === '') return [];
    if (!PLAIN_WORDS.test(inner)) return this.#giveUp();
    const words = inner.split(/, */);
    // A single dash would have another meaning.
    return words.some((word) => word === '-') ? this.#giveUp() : words.map((word) => this.#plain(word));
  }

  #quoted(start: number, quote: string): unknown {
    let close = this.#text.indexOf(quote, start + 1);
    // Two single quotes inside single quotes mean one.
    while (quote === "'" && close !== -1 && this.#text.charCodeAt(close + 1) === 0x27)
      close = this.#text.indexOf(quote, close + 2);
    if (close === -1 || close >= this.#end) return this.#giveUp();
    const rest = this.#text.slice(close + 1, this.#end).trim();
    if (rest !== '' && !(rest.startsWith('#') && this.#text[close + 1] === ' ')) return this.#giveUp();
    const inner = this.#text.slice(start + 1, close);
    if (quote === "'") return inner.includes("'") ? inner.replaceAll("''", "'") : inner;
    return inner.includes('\\') ? this.#giveUp() : inner;
  }

  /** `|` and `|-` with content that is indented deeper than `indent`. */
  #literal(start: number, indent: number): unknown {
    const header = this.#text.slice(start, this.#end).trimEnd();
    if (header !== '|' && header !== '|-') return this.#giveUp();
    const text = this.#text;
    const lines: string[] = [];
    let column = -1;
    let at = this.#end + 1;
    while (at < text.length) {
      const newline = text.indexOf('\n', at);
      const end = newline === -1 ? text.length : newline;
      let content = at;
      while (content < end && text.charCodeAt(content) === 0x20) content++;
      if (content === end) {
        // Spaces on an empty line may be content; that is left to the full parser.
        if (content !== at) return this.#giveUp();
        lines.push('');
      } else {
        const own = content - at;
        if (own <= indent) break;
        if (column === -1) column = own;
        if (own < column) return this.#giveUp();
        lines.push(text.slice(at + column, end));
      }
      at = end + 1;
    }
    if (column === -1) return this.#giveUp();
    while (lines.at(-1) === '') lines.pop();
    this.#next(at);
    return lines.join('\n') + (header === '|' ? '\n' : '');
  }
}

/** 1: may be in a key, 2: may also start one. */
const KEY_CHARACTERS = new Uint8Array(128);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_')
  KEY_CHARACTERS[char.charCodeAt(0)] = 2;
for (const char of '0123456789./-') KEY_CHARACTERS[char.charCodeAt(0)] = 1;

/** Keys repeat from file to file. Using the same string again saves the engine from hashing a new one. */
const KNOWN_KEYS: (string | undefined)[] = Array<string | undefined>(4096).fill(undefined);

/** The key of `key:` at an offset of an ASCII text; undefined if there is none, or if it is not a plain string. */
function keyAt(text: string, start: number): string | undefined {
  if (KEY_CHARACTERS[text.charCodeAt(start)] !== 2) return undefined;
  let at = start;
  let hash = 0;
  for (let code = text.charCodeAt(at); (KEY_CHARACTERS[code] ?? 0) > 0; code = text.charCodeAt(++at))
    hash = (Math.imul(hash, 31) + code) | 0;
  if (text.charCodeAt(at) !== 0x3a) return undefined;
  const after = text.charCodeAt(at + 1);
  if (after !== 0x20 && after !== 0x0a && at + 1 < text.length) return undefined;
  const slot = hash & 4095;
  const known = KNOWN_KEYS[slot];
  if (known?.length === at - start && text.startsWith(known, start)) return known;
  const key = text.slice(start, at);
  // Keys such as `on` or `n` are booleans, which the full parser handles.
  if (key.length <= 5 && typeof resolvePlainScalar(key) !== 'string') return undefined;
  KNOWN_KEYS[slot] = key;
  return key;
}
