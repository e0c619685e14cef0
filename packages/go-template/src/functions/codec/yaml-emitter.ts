import { decodeRune, runesOf } from '../../text/bytes.ts';
import { hex } from '../../text/quote.ts';
import { checkText } from '../../value/work.ts';
import { isPlainText } from './resolve-scalar.ts';
import { analyzeScalar, isBreak, isPrintable } from './scalar-analysis.ts';

/** Lines are broken at the first space after this column. */
const WIDTH = 80;
const ESCAPES: ReadonlyMap<number, string> = new Map([
  [0, '0'],
  [7, 'a'],
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [11, 'v'],
  [12, 'f'],
  [13, 'r'],
  [27, 'e'],
  [34, '"'],
  [92, '\\'],
  [0x85, 'N'],
  [0xa0, '_'],
  [0x2028, 'L'],
  [0x2029, 'P'],
]);

/** Writes the scalars and the indentation of YAML as go-yaml v2 does (emitterc.go). */
export class YamlEmitter {
  text = '';
  /** −1 before the first block. */
  indent = -1;
  /** Whether this line has only indentation so far. */
  indention = true;
  #column = 0;
  #whitespace = true;

  #put(char: string): void {
    this.text += char;
    this.#column++;
  }

  #break(char = '\n'): void {
    checkText(this.text.length >> 6);
    this.text += char;
    this.#column = 0;
  }

  writeIndent(): void {
    const indent = Math.max(this.indent, 0);
    if (!this.indention || this.#column > indent || (this.#column === indent && !this.#whitespace))
      this.#break();
    while (this.#column < indent) this.#put(' ');
    this.#whitespace = true;
    this.indention = true;
  }

  writeIndicator(indicator: string, needsSpace: boolean, staysIndention = false): void {
    if (needsSpace && !this.#whitespace) this.#put(' ');
    for (const char of indicator) this.#put(char);
    this.#whitespace = false;
    this.indention &&= staysIndention;
  }

  /** A number, a boolean or null. */
  writeWord(word: string): void {
    this.writeIndicator(word, true);
  }

  /** Whether a text can be the key before a colon in the same line. */
  isSimpleKey(bytes: string): boolean {
    return !analyzeScalar(bytes).multiline && bytes.length <= 128;
  }

  writeText(bytes: string, isKey: boolean): void {
    const { multiline, plain, singleQuoted, block } = analyzeScalar(bytes);
    const before = this.indent;
    this.indent = before < 0 ? 2 : before + 2;
    const isPlain = isPlainText(bytes);
    if (bytes.includes('\n') && block && !isKey) this.#literal(bytes);
    else if (bytes.includes('\n') || !isPlain || (isKey && multiline)) this.#doubleQuoted(bytes, !isKey);
    else if (plain) this.#plain(bytes, !isKey);
    else if (singleQuoted) this.#singleQuoted(bytes, !isKey);
    else this.#doubleQuoted(bytes, !isKey);
    this.indent = before;
  }

  #plain(bytes: string, mayBreak: boolean): void {
    if (!this.#whitespace) this.#put(' ');
    this.#folded(bytes, { mayBreak, isQuoted: false });
    this.#whitespace = false;
    this.indention = false;
  }

  #singleQuoted(bytes: string, mayBreak: boolean): void {
    this.writeIndicator("'", true);
    this.#folded(bytes, { mayBreak, isQuoted: true });
    this.writeIndicator("'", false);
    this.#whitespace = false;
    this.indention = false;
  }

  /** Writes a text whose lines may be broken at spaces and whose own line breaks are doubled. */
  #folded(
    bytes: string,
    { mayBreak, isQuoted }: { readonly mayBreak: boolean; readonly isQuoted: boolean },
  ): void {
    let [spaces, breaks] = [false, false];
    for (let at = 0; at < bytes.length; ) {
      const { rune, width } = decodeRune(bytes, at);
      const char = bytes.slice(at, at + width);
      if (char === ' ') {
        const inside = !isQuoted || (at > 0 && at < bytes.length - 1);
        if (mayBreak && !spaces && this.#column > WIDTH && inside && bytes[at + 1] !== ' ')
          this.writeIndent();
        else this.#put(' ');
        spaces = true;
      } else if (isBreak(rune)) {
        if (!breaks && char === '\n') this.#break();
        this.#break(char);
        this.indention = true;
        breaks = true;
      } else {
        if (breaks) this.writeIndent();
        if (isQuoted && char === "'") this.#put("'");
        this.#put(char);
        this.indention = false;
        [spaces, breaks] = [false, false];
      }
      at += width;
    }
  }

  #doubleQuoted(bytes: string, mayBreak: boolean): void {
    this.writeIndicator('"', true);
    const hasMark = bytes.startsWith('\xef\xbb\xbf');
    let spaces = false;
    for (let at = 0; at < bytes.length; ) {
      const { rune, width } = decodeRune(bytes, at);
      const char = bytes.slice(at, at + width);
      if (char === ' ' && !hasMark) {
        if (mayBreak && !spaces && this.#column > WIDTH && at > 0 && at < bytes.length - 1) {
          this.writeIndent();
          if (bytes[at + 1] === ' ') this.#put('\\');
        } else this.#put(' ');
        spaces = true;
      } else {
        const escape = hasMark || !isPrintable(rune, width) || isBreak(rune) || char === '"' || char === '\\';
        for (const part of escape ? escaped(rune) : [char]) this.#put(part);
        spaces = false;
      }
      at += width;
    }
    this.writeIndicator('"', false);
    this.#whitespace = false;
    this.indention = false;
  }

  #literal(bytes: string): void {
    this.writeIndicator('|', true);
    this.writeIndicator(literalHints(bytes), false);
    this.#break();
    this.indention = true;
    this.#whitespace = true;
    let breaks = true;
    for (let at = 0; at < bytes.length; ) {
      const { rune, width } = decodeRune(bytes, at);
      const char = bytes.slice(at, at + width);
      if (isBreak(rune)) {
        this.#break(char);
        this.indention = true;
        breaks = true;
      } else {
        if (breaks) this.writeIndent();
        this.#put(char);
        this.indention = false;
        breaks = false;
      }
      at += width;
    }
  }
}

/**
 * The indicators of a literal block: its indentation if the text starts with a space or a line
 * break, and the handling of final line breaks.
 */
function literalHints(bytes: string): string {
  const indent = bytes.startsWith(' ') || isBreak(decodeRune(bytes, 0).rune) ? '2' : '';
  const [last, before] = runesOf(bytes).slice(-2).reverse();
  if (last === undefined || !isBreak(last)) return `${indent}-`;
  return before === undefined || isBreak(before) ? `${indent}+` : indent;
}

function escaped(rune: number): string[] {
  const short = ESCAPES.get(rune);
  if (short !== undefined) return ['\\', short];
  const digits = rune <= 0xff ? 2 : rune <= 0xffff ? 4 : 8;
  return ['\\', digits === 2 ? 'x' : digits === 4 ? 'u' : 'U', ...hex(rune, digits).toUpperCase()];
}
