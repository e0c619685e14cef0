import type { YamlCursor } from './yaml-cursor.ts';

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
