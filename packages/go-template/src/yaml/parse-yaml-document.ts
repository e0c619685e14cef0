import { decodeRune } from '../text/bytes.ts';
import { GoError } from '../value/go-error.ts';
import { checkDepth } from '../value/work.ts';
import { parserError, type YamlToken, type YamlTokenKind } from './yaml-cursor.ts';
import { YamlScanner } from './yaml-scanner.ts';

/** A node of a YAML document. Texts are byte strings. */
export type YamlNode = YamlScalar | YamlAlias | YamlList | YamlMap;

export interface YamlScalar {
  readonly kind: 'scalar';
  readonly value: string;
  /** The full tag, such as `tag:yaml.org,2002:str`; '' for none. */
  readonly tag: string;
  /** Whether the content determines the type of the value, as in a scalar without quotes. */
  readonly isPlain: boolean;
}

export interface YamlAlias {
  readonly kind: 'alias';
  readonly name: string;
  readonly target: YamlNode;
}

interface YamlList {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
}

export interface YamlMap {
  readonly kind: 'map';
  readonly entries: readonly (readonly [key: YamlNode, value: YamlNode])[];
}

/**
 * The first document of a YAML 1.1 text, as go-yaml v2 reads it; undefined if there is none. The
 * text after it is not read. Source: go.yaml.in/yaml/v2, parserc.go.
 * @param text a byte string
 * @throws GoError with the message of go-yaml
 */
export function parseYamlDocument(text: string): YamlNode | undefined {
  return new DocumentParser(new YamlScanner(text === '' ? '\n' : text)).document();
}

/**
 * The nodes that are allowed at a place: in a block, in a block that may be a list without its own
 * indentation, or inside brackets.
 */
type Context = 'block' | 'value' | 'flow';

interface Properties {
  readonly anchor: string;
  readonly tag: string;
}

const NO_CONTENT: readonly YamlTokenKind[] = [
  'version',
  'tag prefix',
  'document start',
  'document end',
  'stream end',
];
const EMPTY: YamlNode = { kind: 'scalar', value: '', tag: '', isPlain: true };

class DocumentParser {
  readonly #scanner: YamlScanner;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #prefixes = new Map<string, string>();

  constructor(scanner: YamlScanner) {
    this.#scanner = scanner;
  }

  document(): YamlNode | undefined {
    const { kind } = this.#scanner.peek();
    if (kind === 'stream end') return undefined;
    const isBare = kind !== 'version' && kind !== 'tag prefix' && kind !== 'document start';
    this.#directives();
    if (!isBare) {
      const start = this.#scanner.peek();
      if (start.kind !== 'document start')
        throw parserError('did not find expected <document start>', start.line);
      this.#scanner.take();
    }
    const isEmpty = !isBare && NO_CONTENT.includes(this.#scanner.peek().kind);
    const node = isEmpty ? EMPTY : this.#node('block', 0);
    this.#scanner.peek();
    return node;
  }

  #directives(): void {
    let hasVersion = false;
    for (;;) {
      const token = this.#scanner.peek();
      if (token.kind === 'version') {
        if (hasVersion) throw parserError('found duplicate %YAML directive', token.line);
        if (token.value !== '1.1') throw parserError('found incompatible YAML document', token.line);
        hasVersion = true;
      } else if (token.kind === 'tag prefix') {
        if (this.#prefixes.has(token.value)) throw parserError('found duplicate %TAG directive', token.line);
        this.#prefixes.set(token.value, token.suffix);
      } else break;
      this.#scanner.take();
    }
    if (!this.#prefixes.has('!')) this.#prefixes.set('!', '!');
    if (!this.#prefixes.has('!!')) this.#prefixes.set('!!', 'tag:yaml.org,2002:');
  }

  #node(context: Context, depth: number): YamlNode {
    checkDepth(depth);
    const first = this.#scanner.peek();
    if (first.kind === 'alias') return this.#alias(this.#scanner.take());
    const { anchor, tag } = this.#properties();
    const token = this.#scanner.peek();
    if (token.kind === 'scalar') {
      this.#scanner.take();
      const isPlain = tag === '!' || (tag === '' && token.isPlain);
      return this.#anchored(anchor, { kind: 'scalar', value: token.value, tag, isPlain });
    }
    const collection = this.#collection(token, context, { anchor, depth });
    if (collection !== undefined) return collection;
    if (anchor === '' && tag === '') throw parserError('did not find expected node content', token.line);
    return this.#anchored(anchor, { kind: 'scalar', value: '', tag, isPlain: tag === '' });
  }

  #alias({ value: name }: YamlToken): YamlNode {
    const target = this.#anchors.get(name);
    if (target === undefined) throw new GoError(`yaml: unknown anchor '${name}' referenced`);
    return { kind: 'alias', name, target };
  }

  #anchored<T extends YamlNode>(anchor: string, node: T): T {
    if (anchor !== '') this.#anchors.set(anchor, node);
    return node;
  }

  /** An anchor and a tag, in either order. */
  #properties(): Properties {
    const { line } = this.#scanner.peek();
    let anchor: YamlToken | undefined;
    let tag: YamlToken | undefined;
    for (;;) {
      const { kind } = this.#scanner.peek();
      if (kind === 'anchor' && anchor === undefined) anchor = this.#scanner.take();
      else if (kind === 'tag' && tag === undefined) tag = this.#scanner.take();
      else break;
    }
    return { anchor: anchor?.value ?? '', tag: tag === undefined ? '' : this.#tag(tag, line) };
  }

  #tag({ value: handle, suffix, line }: YamlToken, nodeLine: number): string {
    if (handle === '') return suffix;
    const prefix = this.#prefixes.get(handle);
    if (prefix === undefined) throw parserError('found undefined tag handle', line > 0 ? line : nodeLine);
    return `${prefix}${suffix}`;
  }

  #collection(
    { kind }: YamlToken,
    context: Context,
    { anchor, depth }: { readonly anchor: string; readonly depth: number },
  ): YamlNode | undefined {
    const isBlock = context !== 'flow';
    if (kind === '-' && context === 'value') return this.#list(anchor, (items) => this.#dashes(items, depth));
    if (kind === 'list start' && isBlock) return this.#list(anchor, (items) => this.#blockList(items, depth));
    if (kind === '[') return this.#list(anchor, (items) => this.#flowList(items, depth));
    if (kind === 'map start' && isBlock) return this.#map(anchor, (add) => this.#blockMap(add, depth));
    return kind === '{' ? this.#map(anchor, (add) => this.#flowMap(add, depth)) : undefined;
  }

  /**
   * Reads a list. Its anchor is registered before its items are read, because an alias in a
   * collection may refer to that collection.
   */
  #list(anchor: string, fill: (items: YamlNode[]) => void): YamlNode {
    const items: YamlNode[] = [];
    const list = this.#anchored(anchor, { kind: 'list', items });
    fill(items);
    return list;
  }

  #map(anchor: string, fill: (add: AddEntry) => void): YamlNode {
    const entries: [YamlNode, YamlNode][] = [];
    const map = this.#anchored(anchor, { kind: 'map', entries });
    fill((key, value) => entries.push([key, value()]));
    return map;
  }

  #blockList(items: YamlNode[], depth: number): void {
    this.#scanner.take();
    for (;;) {
      const token = this.#scanner.peek();
      if (token.kind === 'block end') break;
      if (token.kind !== '-') throw parserError("did not find expected '-' indicator", token.line);
      this.#scanner.take();
      items.push(this.#nodeUnless(['-', 'block end'], 'block', depth));
    }
    this.#scanner.take();
  }

  /** Reads a list with the same indentation as the key before it. */
  #dashes(items: YamlNode[], depth: number): void {
    while (this.#scanner.peek().kind === '-') {
      this.#scanner.take();
      items.push(this.#nodeUnless(['-', 'key', 'value', 'block end'], 'block', depth));
    }
  }

  #blockMap(add: AddEntry, depth: number): void {
    this.#scanner.take();
    const ends: readonly YamlTokenKind[] = ['key', 'value', 'block end'];
    for (;;) {
      const token = this.#scanner.peek();
      if (token.kind === 'block end') break;
      if (token.kind !== 'key') throw parserError('did not find expected key', token.line);
      this.#scanner.take();
      add(this.#nodeUnless(ends, 'value', depth), () => {
        if (this.#scanner.peek().kind !== 'value') return EMPTY;
        this.#scanner.take();
        return this.#nodeUnless(ends, 'value', depth);
      });
    }
    this.#scanner.take();
  }

  #flowList(items: YamlNode[], depth: number): void {
    this.#flow(']', () => {
      if (this.#scanner.peek().kind !== 'key') return items.push(this.#node('flow', depth + 1));
      this.#scanner.take();
      return items.push(this.#map('', (add) => this.#pair(add, depth)));
    });
  }

  /**
   * Reads `[a: b]`, a map with one entry and without braces. If the key is empty, go-yaml skips the
   * next token, and so does this.
   */
  #pair(add: AddEntry, depth: number): void {
    const isEmpty = ['value', ',', ']'].includes(this.#scanner.peek().kind);
    if (isEmpty) this.#scanner.take();
    add(isEmpty ? EMPTY : this.#node('flow', depth + 1), () => this.#flowValue(']', depth));
  }

  #flowMap(add: AddEntry, depth: number): void {
    this.#flow('}', () => {
      if (this.#scanner.peek().kind !== 'key') return add(this.#node('flow', depth + 1), () => EMPTY);
      this.#scanner.take();
      const key = this.#nodeUnless(['value', ',', '}'], 'flow', depth);
      return add(key, () => this.#flowValue('}', depth));
    });
  }

  #flowValue(end: ']' | '}', depth: number): YamlNode {
    if (this.#scanner.peek().kind !== 'value') return EMPTY;
    this.#scanner.take();
    return this.#nodeUnless([',', end], 'flow', depth);
  }

  /**
   * Reads the content of brackets: entries separated by commas, with an optional comma at the end.
   */
  #flow(end: ']' | '}', entry: () => unknown): void {
    this.#scanner.take();
    for (let isFirst = true; this.#scanner.peek().kind !== end; isFirst = false) {
      if (!isFirst) {
        const token = this.#scanner.peek();
        if (token.kind !== ',') throw parserError(`did not find expected ',' or '${end}'`, token.line);
        this.#scanner.take();
        if (this.#scanner.peek().kind === end) break;
      }
      entry();
    }
    this.#scanner.take();
  }

  #nodeUnless(ends: readonly YamlTokenKind[], context: Context, depth: number): YamlNode {
    return ends.includes(this.#scanner.peek().kind) ? EMPTY : this.#node(context, depth + 1);
  }
}

type AddEntry = (key: YamlNode, value: () => YamlNode) => void;

const PRINTABLE = /^[\t\n\r\x20-\x7e]*$/;

/**
 * Checks that a byte string has only characters that YAML allows.
 * @throws GoError with the message of go-yaml
 */
export function checkYamlCharacters(bytes: string): void {
  if (PRINTABLE.test(bytes)) return;
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    if (width === 1 && bytes.charCodeAt(at) >= 0x80) throw new GoError(`yaml: ${whatIsWrong(bytes, at)}`);
    if (!isAllowed(rune)) throw new GoError('yaml: control characters are not allowed');
    at += width;
  }
}

function isAllowed(rune: number): boolean {
  if (rune < 0xa0)
    return rune === 0x09 || rune === 0x0a || rune === 0x0d || rune === 0x85 || (rune >= 0x20 && rune <= 0x7e);
  return rune <= 0xfffd || rune >= 0x10000;
}

/** The problem of bytes that are not valid UTF-8. */
function whatIsWrong(bytes: string, at: number): string {
  const first = bytes.charCodeAt(at);
  if (first < 0xc0 || first >= 0xf8) return 'invalid leading UTF-8 octet';
  const width = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence';
  const rest = bytes.slice(at + 1, at + width);
  if (!/^[\x80-\xbf]+$/.test(rest)) return 'invalid trailing UTF-8 octet';
  const isSurrogate = first === 0xed && rest.charCodeAt(0) >= 0xa0;
  const isBeyond = first > 0xf4 || (first === 0xf4 && rest.charCodeAt(0) >= 0x90);
  return isSurrogate || isBeyond ? 'invalid Unicode character' : 'invalid length of a UTF-8 sequence';
}
