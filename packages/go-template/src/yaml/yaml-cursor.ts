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
