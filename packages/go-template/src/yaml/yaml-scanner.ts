import { scanBlockScalar } from './scan-block-scalar.ts';
import { scanQuotedScalar } from './scan-quoted-scalar.ts';
import { scanAnchor, scanDirective, scanTag } from './scan-tag.ts';
import {
  YamlCursor,
  scannerError,
  type YamlToken,
  type YamlTokenKind,
  yamlToken,
  FoldedSpace,
} from './yaml-cursor.ts';

/**
 * The tokens of a YAML 1.1 text, as the scanner of go-yaml (that of libyaml) reads them. It reads
 * one token after the other, so it does not report an error after the requested token. Only its `:`
 * shows that a scalar was a key. Tokens are therefore inserted before others that were already
 * read. Source: go.yaml.in/yaml/v2, scannerc.go.
 */
export class YamlScanner {
  readonly #cursor: YamlCursor;
  readonly #keys: SimpleKeys;
  /** Tokens that were read but not taken yet. */
  readonly #tokens: YamlToken[] = [];
  #taken = 0;
  /** How many brackets are open. */
  #flow = 0;
  #indent = -1;
  readonly #outer: number[] = [];
  #mayBeKey = true;

  constructor(text: string) {
    this.#cursor = new YamlCursor(text);
    this.#keys = new SimpleKeys(this.#cursor);
  }

  /** The next token, without taking it. Must not be called after the end of the text. */
  peek(): YamlToken {
    for (;;) {
      const [next] = this.#tokens;
      if (next !== undefined && !this.#keys.mayBeginWith(this.#taken)) return next;
      this.#fetch();
    }
  }

  take(): YamlToken {
    const token = this.peek();
    this.#tokens.shift();
    this.#taken++;
    return token;
  }

  #fetch(): void {
    this.#skipToToken();
    this.#unroll(this.#cursor.column);
    const cursor = this.#cursor;
    if (cursor.isEnd()) return this.#end();
    if (cursor.column === 0 && cursor.is('%')) return this.#directive();
    if (cursor.isDocumentIndicator('---')) return this.#document('document start');
    if (cursor.isDocumentIndicator('...')) return this.#document('document end');
    const char = cursor.ahead(1);
    switch (char) {
      case '[':
      case '{':
        return this.#open(char);
      case ']':
      case '}':
        return this.#close(char);
      case ',':
        return this.#comma();
      case '*':
        return this.#node(() => scanAnchor(cursor, 'alias'));
      case '&':
        return this.#node(() => scanAnchor(cursor, 'anchor'));
      case '!':
        return this.#node(() => scanTag(cursor));
      case '"':
      case "'":
        return this.#node((line) => yamlToken('scalar', line, { value: scanQuotedScalar(cursor, char) }));
      default:
        return this.#other(char);
    }
  }

  /** Reads characters that are indicators only before a blank or outside of brackets. */
  #other(char: string): void {
    const isBeforeBlank = this.#cursor.isBlankOrEnd(1);
    const isIndicator = this.#flow > 0 || isBeforeBlank;
    if (char === '-' && isBeforeBlank) return this.#dash();
    if (char === '?' && isIndicator) return this.#explicitKey();
    if (char === ':' && isIndicator) return this.#colon();
    if ((char === '|' || char === '>') && this.#flow === 0) return this.#block(char === '|');
    if (['|', '>', '#', '%', '@', '`', '\t'].includes(char))
      throw scannerError('found character that cannot start any token', this.#cursor.line);
    this.#plain();
  }

  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      while (cursor.is(' ') || (cursor.is('\t') && (this.#flow > 0 || !this.#mayBeKey))) cursor.skip();
      cursor.skipComment();
      if (!cursor.isBreak()) return;
      cursor.readBreak();
      if (this.#flow === 0) this.#mayBeKey = true;
    }
  }

  #add(kind: YamlTokenKind): void {
    this.#tokens.push(yamlToken(kind, this.#cursor.line));
  }

  get #next(): number {
    return this.#taken + this.#tokens.length;
  }

  /**
   * Starts a block if the indentation is deeper.
   * @param before the number of the token that follows the start
   */
  #roll(kind: 'list start' | 'map start', { line, column } = this.#place, before = this.#next): void {
    if (this.#flow > 0 || this.#indent >= column) return;
    this.#outer.push(this.#indent);
    this.#indent = column;
    this.#insert(before, yamlToken(kind, line));
  }

  get #place(): { readonly line: number; readonly column: number } {
    return this.#cursor;
  }

  #insert(before: number, token: YamlToken): void {
    const at = before - this.#taken;
    // As in go-yaml, the token that should follow may already be taken.
    this.#tokens.splice(at < 0 ? this.#tokens.length : at, 0, token);
  }

  /** Ends the blocks that are indented deeper than a column. */
  #unroll(column: number): void {
    if (this.#flow > 0) return;
    while (this.#indent > column) {
      this.#add('block end');
      this.#indent = this.#outer.pop() ?? -1;
    }
  }

  #end(): void {
    const cursor = this.#cursor;
    if (cursor.column !== 0) cursor.line++;
    cursor.column = 0;
    this.#unroll(-1);
    this.#keys.remove();
    this.#mayBeKey = false;
    this.#add('stream end');
  }

  #directive(): void {
    this.#unroll(-1);
    this.#keys.remove();
    this.#mayBeKey = false;
    this.#tokens.push(scanDirective(this.#cursor));
  }

  #document(kind: 'document start' | 'document end'): void {
    this.#unroll(-1);
    this.#keys.remove();
    this.#mayBeKey = false;
    this.#add(kind);
    this.#cursor.skipTimes(3);
  }

  #open(kind: '[' | '{'): void {
    this.#saveKey();
    this.#keys.enter(this.#next);
    this.#flow++;
    this.#mayBeKey = true;
    this.#indicator(kind);
  }

  #close(kind: ']' | '}'): void {
    this.#keys.remove();
    if (this.#flow > 0) {
      this.#flow--;
      this.#keys.leave();
    }
    this.#mayBeKey = false;
    this.#indicator(kind);
  }

  #comma(): void {
    this.#keys.remove();
    this.#mayBeKey = true;
    this.#indicator(',');
  }

  #indicator(kind: YamlTokenKind): void {
    this.#add(kind);
    this.#cursor.skip();
  }

  #dash(): void {
    if (this.#flow === 0) {
      this.#checkAllowed('block sequence entries');
      this.#roll('list start');
    }
    this.#keys.remove();
    this.#mayBeKey = true;
    this.#indicator('-');
  }

  #explicitKey(): void {
    if (this.#flow === 0) {
      this.#checkAllowed('mapping keys');
      this.#roll('map start');
    }
    this.#keys.remove();
    this.#mayBeKey = this.#flow === 0;
    this.#indicator('key');
  }

  #colon(): void {
    const key = this.#keys.current();
    if (key !== undefined) {
      this.#insert(key.token, yamlToken('key', key.line));
      this.#roll('map start', key, key.token);
      this.#keys.use(key);
      this.#mayBeKey = false;
    } else {
      if (this.#flow === 0) {
        this.#checkAllowed('mapping values');
        this.#roll('map start');
      }
      this.#mayBeKey = this.#flow === 0;
    }
    this.#indicator('value');
  }

  #checkAllowed(what: string): void {
    if (!this.#mayBeKey) throw scannerError(`${what} are not allowed in this context`, this.#cursor.line);
  }

  #saveKey(): void {
    if (this.#mayBeKey) this.#keys.save(this.#next, this.#flow === 0 && this.#indent === this.#cursor.column);
  }

  #node(scan: (line: number) => YamlToken): void {
    this.#saveKey();
    this.#mayBeKey = false;
    this.#tokens.push(scan(this.#cursor.line));
  }

  #block(isLiteral: boolean): void {
    this.#keys.remove();
    this.#mayBeKey = true;
    const { line } = this.#cursor;
    const value = scanBlockScalar(this.#cursor, isLiteral, this.#indent);
    this.#tokens.push(yamlToken('scalar', line, { value }));
  }

  #plain(): void {
    this.#saveKey();
    this.#mayBeKey = false;
    const { line } = this.#cursor;
    const { value, endsLine } = scanPlainScalar(this.#cursor, this.#flow > 0, this.#indent);
    this.#tokens.push(yamlToken('scalar', line, { value, isPlain: true }));
    if (endsLine) this.#mayBeKey = true;
  }
}

/** A place where a key without `?` may start. */
interface SimpleKey {
  isPossible: boolean;
  /** Whether a `:` must follow, because of the indentation. */
  readonly isRequired: boolean;
  readonly token: number;
  readonly line: number;
  readonly column: number;
  readonly index: number;
}

/** The maximum length of a key in characters. A key must also end on its line. */
const LONGEST_KEY = 1024;

/** The possible keys, one for each level of brackets. */
class SimpleKeys {
  readonly #keys: SimpleKey[] = [];
  /** For each token number, the level at which a key may start with that token. */
  readonly #levelOf = new Map<number, number>();
  readonly #cursor: YamlCursor;

  constructor(cursor: YamlCursor) {
    this.#cursor = cursor;
    this.enter(0);
  }

  /** Call when a bracket opens. */
  enter(token: number): void {
    const { line, column, index } = this.#cursor;
    this.#keys.push({ isPossible: false, isRequired: false, token, line, column, index });
  }

  /** Call when a bracket closes. */
  leave(): void {
    const key = this.#keys.pop();
    if (key !== undefined) this.#levelOf.delete(key.token);
  }

  /** Notes that a key may start here. */
  save(token: number, isRequired: boolean): void {
    this.remove();
    const { line, column, index } = this.#cursor;
    this.#keys[this.#keys.length - 1] = { isPossible: true, isRequired, token, line, column, index };
    this.#levelOf.set(token, this.#keys.length - 1);
  }

  /** Notes that the possible key is not a key. */
  remove(): void {
    const key = this.#keys.at(-1);
    if (key?.isPossible !== true) return;
    if (key.isRequired) throw this.#missing();
    this.use(key);
  }

  /** Notes that it is decided whether this is a key. */
  use(key: SimpleKey): void {
    key.isPossible = false;
    this.#levelOf.delete(key.token);
  }

  /** The possible key at this level of brackets. */
  current(): SimpleKey | undefined {
    const key = this.#keys.at(-1);
    return key !== undefined && this.#isValid(key) ? key : undefined;
  }

  /** Whether a key may start with this token. */
  mayBeginWith(token: number): boolean {
    const key = this.#keys[this.#levelOf.get(token) ?? -1];
    return key !== undefined && this.#isValid(key);
  }

  #isValid(key: SimpleKey): boolean {
    if (!key.isPossible) return false;
    const { line, index } = this.#cursor;
    if (key.line >= line && key.index + LONGEST_KEY >= index) return true;
    if (key.isRequired) throw this.#missing();
    key.isPossible = false;
    return false;
  }

  #missing(): Error {
    return scannerError("could not find expected ':'", this.#cursor.line);
  }
}

interface PlainScalar {
  /** Byte string. */
  readonly value: string;
  /** Whether a line break follows. */
  readonly endsLine: boolean;
}

/**
 * Reads a text without quotes.
 * @param parent the indentation around it; -1 for none
 */
function scanPlainScalar(cursor: YamlCursor, isFlow: boolean, parent: number): PlainScalar {
  const space = new FoldedSpace();
  const indent = parent + 1;
  const checkTab = (): void => {
    if (cursor.is('\t') && cursor.column < indent)
      throw scannerError('found a tab character that violates indentation', cursor.line);
  };
  const isWanted = (): boolean => !cursor.isBlankOrEnd() && !endsPlain(cursor, isFlow);
  let value = '';
  while (!cursor.isDocumentIndicator() && !cursor.is('#')) {
    if (isWanted()) value += space.take() + cursor.readWhile(isWanted);
    if (!cursor.isBlank() && !cursor.isBreak()) break;
    space.read(cursor, checkTab);
    if (!isFlow && cursor.column < indent) break;
  }
  return { value, endsLine: space.isNewLine };
}

function endsPlain(cursor: YamlCursor, isFlow: boolean): boolean {
  switch (cursor.code()) {
    case 0x3a: // :
      return cursor.isBlankOrEnd(1);
    case 0x2c: // ,
    case 0x3f: // ?
    case 0x5b: // [
    case 0x5d: // ]
    case 0x7b: // {
    case 0x7d: // }
      return isFlow;
    default:
      return false;
  }
}
