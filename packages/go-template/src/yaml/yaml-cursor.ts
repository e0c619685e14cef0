import { GoError } from '../value/go-error.ts';

/** A position in a YAML text. The text is a byte string. Columns and indexes count characters. */
export class YamlCursor {
  pos = 0;
  line = 0;
  column = 0;
  index = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  }

  /** The byte at a distance; 0 after the end. */
  code(offset = 0): number {
    const at = this.pos + offset;
    return at < this.#text.length ? this.#text.charCodeAt(at) : 0;
  }

  is(char: string, offset = 0): boolean {
    return this.#text[this.pos + offset] === char;
  }

  isEnd(offset = 0): boolean {
    return this.pos + offset >= this.#text.length;
  }

  isBlank(offset = 0): boolean {
    const code = this.code(offset);
    return code === SPACE || code === TAB;
  }

  isBreak(offset = 0): boolean {
    return this.#breakWidth(offset) > 0;
  }

  isBreakOrEnd(offset = 0): boolean {
    return this.isEnd(offset) || this.isBreak(offset);
  }

  isBlankOrEnd(offset = 0): boolean {
    return this.isBlank(offset) || this.isBreakOrEnd(offset);
  }

  /** Whether the byte is a letter, a digit, `_` or `-`. */
  isWord(offset = 0): boolean {
    const code = this.code(offset);
    return (
      (code >= 0x30 && code <= 0x39) ||
      (code >= 0x41 && code <= 0x5a) ||
      (code >= 0x61 && code <= 0x7a) ||
      code === 0x5f ||
      code === 0x2d
    );
  }

  isDigit(): boolean {
    const code = this.code();
    return code >= 0x30 && code <= 0x39;
  }

  /** Whether a line that is `---` or `...` starts here. */
  isDocumentIndicator(of?: '---' | '...'): boolean {
    if (this.column !== 0 || !this.isBlankOrEnd(3)) return false;
    return (of ?? '---') === this.ahead(3) || (of === undefined && this.ahead(3) === '...');
  }

  ahead(length: number): string {
    return this.#text.slice(this.pos, this.pos + length);
  }

  /** Skips one character, which must not be a line break. */
  skip(): void {
    this.pos += widthOf(this.code());
    this.column++;
    this.index++;
  }

  skipTimes(count: number): void {
    for (let left = count; left > 0; left--) this.skip();
  }

  skipBlanks(): void {
    while (this.isBlank()) this.skip();
  }

  skipComment(): void {
    if (this.is('#')) while (!this.isBreakOrEnd()) this.skip();
  }

  /**
   * Skips a line break.
   * @returns a line feed, or the break itself for the two that keep their form
   */
  readBreak(): string {
    const width = this.#breakWidth(0);
    if (width === 0) return '';
    const lineBreak = width === 3 ? this.ahead(3) : '\n';
    this.index += width === 2 && this.is('\r') ? 2 : 1;
    this.pos += width;
    this.line++;
    this.column = 0;
    return lineBreak;
  }

  readWhile(isWanted: () => boolean): string {
    const from = this.pos;
    while (isWanted()) this.skip();
    return this.#text.slice(from, this.pos);
  }

  since(pos: number): string {
    return this.#text.slice(pos, this.pos);
  }

  /** The number of bytes of the line break: `\r`, `\n`, both, U+0085, U+2028 or U+2029. */
  #breakWidth(offset: number): number {
    switch (this.code(offset)) {
      case 0x0a:
        return 1;
      case 0x0d:
        return this.code(offset + 1) === 0x0a ? 2 : 1;
      case 0xc2:
        return this.code(offset + 1) === 0x85 ? 2 : 0;
      case 0xe2:
        return this.code(offset + 1) === 0x80 && (this.code(offset + 2) | 1) === 0xa9 ? 3 : 0;
      default:
        return 0;
    }
  }
}

const BYTE_ORDER_MARK = '\xef\xbb\xbf';
const SPACE = 0x20;
const TAB = 0x09;

function widthOf(first: number): number {
  if (first < 0xc0) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/**
 * The error of a YAML text, with the message of go-yaml. go-yaml counts lines from 0 and omits line
 * 0. Where its scanner fails, it adds one to the line.
 */
export function scannerError(problem: string, line: number): GoError {
  return new GoError(`yaml: ${line > 0 ? `line ${line + 1}: ` : ''}${problem}`);
}

export function parserError(problem: string, line: number): GoError {
  return new GoError(`yaml: ${line > 0 ? `line ${line}: ` : ''}${problem}`);
}

export type YamlTokenKind =
  | 'stream end'
  | 'version'
  | 'tag prefix'
  | 'document start'
  | 'document end'
  | 'list start'
  | 'map start'
  | 'block end'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | '-'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar';

export interface YamlToken {
  readonly kind: YamlTokenKind;
  /** The line where the token starts, from 0. */
  readonly line: number;
  /**
   * The text of a scalar, the name of an anchor or alias, the version `1.1`, or the handle of a
   * tag. Byte string.
   */
  readonly value: string;
  /** The part of a tag after its handle, or the prefix of a handle. */
  readonly suffix: string;
  /** Whether a scalar is neither quoted nor a block. */
  readonly isPlain: boolean;
}

export function yamlToken(
  kind: YamlTokenKind,
  line: number,
  { value = '', suffix = '', isPlain = false } = {},
): YamlToken {
  return { kind, line, value, suffix, isPlain };
}

/**
 * The white space between two parts of a scalar, with its line breaks folded. One line break
 * becomes a space. Of several line breaks the first is dropped.
 */
export class FoldedSpace {
  #spaces = '';
  #first = '';
  #more = '';
  #isNewLine = false;

  /** Whether the white space contains a line break. */
  get isNewLine(): boolean {
    return this.#isNewLine;
  }

  /**
   * Reads all white space at the cursor.
   * @param onIndentation called before each blank at the start of a line
   */
  read(cursor: YamlCursor, onIndentation?: () => void): void {
    for (;;) {
      if (cursor.isBreak()) this.#readBreak(cursor);
      else if (!cursor.isBlank()) return;
      else if (this.#isNewLine) {
        onIndentation?.();
        cursor.skip();
      } else {
        this.#spaces += cursor.ahead(1);
        cursor.skip();
      }
    }
  }

  /** Skips a line break that a backslash removes. */
  skipBreak(cursor: YamlCursor): void {
    cursor.readBreak();
    this.#isNewLine = true;
  }

  /** Returns the folded text and empties the buffer. */
  take(): string {
    const folded = this.#first !== '\n' ? this.#first + this.#more : this.#more === '' ? ' ' : this.#more;
    const text = this.#isNewLine ? folded : this.#spaces;
    this.#spaces = this.#first = this.#more = '';
    this.#isNewLine = false;
    return text;
  }

  #readBreak(cursor: YamlCursor): void {
    if (this.#isNewLine) this.#more += cursor.readBreak();
    else this.#first = cursor.readBreak();
    this.#isNewLine = true;
  }
}
