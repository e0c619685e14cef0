import type { YamlCursor } from './yaml-cursor.ts';

/** The white space between two parts of a scalar, with its line breaks folded: one becomes a space, of more the first is lost. */
export class FoldedSpace {
  #spaces = '';
  #first = '';
  #more = '';
  #isNewLine = false;

  /** Whether there is a line break in it. */
  get isNewLine(): boolean {
    return this.#isNewLine;
  }

  /** Reads all white space that is here. @param onIndentation is called before each blank at the begin of a line */
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

  /** Goes over a line break that a backslash takes away. */
  skipBreak(cursor: YamlCursor): void {
    cursor.readBreak();
    this.#isNewLine = true;
  }

  /** What it becomes. It is empty from then on. */
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
