import { sprintf } from '../fmt/sprintf.ts';
import { decodeRune } from '../text/bytes.ts';
import { isDigit, isLetter, isPrint } from '../text/unicode.ts';
import { INT32, STRING, valueOf } from '../value/go-type.ts';

const LEFT = '{{';
const RIGHT = '}}';
const SPACES = ' \t\r\n';

function isSpace(char: string | undefined): boolean {
  return char !== undefined && char !== '' && SPACES.includes(char);
}

function isAlphaNumeric(rune: number): boolean {
  return rune === 0x5f || isLetter(rune) || isDigit(rune);
}

/** Cuts a template into tokens, as Go's text/template/parse/lex.go does. */
export class Lexer {
  #input: string;
  #pos = 0;
  #start = 0;
  #line = 1;
  #startLine = 1;
  #parens = 0;
  #insideAction = false;

  constructor(input: string) {
    this.#input = input;
  }

  next(): Token {
    return this.#insideAction ? this.#inside() : this.#text();
  }

  #token(kind: TokenKind): Token {
    const val = this.#input.slice(this.#start, this.#pos);
    const token = { kind, pos: this.#start, val, line: this.#startLine };
    this.#start = this.#pos;
    this.#startLine = this.#line;
    return token;
  }

  #error(text: string): Token {
    const token: Token = { kind: 'error', pos: this.#start, val: text, line: this.#startLine };
    this.#input = '';
    this.#pos = 0;
    this.#start = 0;
    return token;
  }

  /** Moves to `pos` and counts the lines on the way. */
  #skipTo(pos: number): void {
    this.#pos = pos;
    this.#countLines();
    this.#start = pos;
    this.#startLine = this.#line;
  }

  #countLines(): void {
    for (let at = this.#start; at < this.#pos; at++) if (this.#input[at] === '\n') this.#line++;
  }

  #text(): Token {
    const left = this.#input.indexOf(LEFT, this.#pos);
    if (left < 0) {
      this.#pos = this.#input.length;
      if (this.#pos === this.#start) return this.#token('EOF');
      this.#countLines();
      return this.#token('text');
    }
    if (left > this.#pos) {
      let end = left;
      if (this.#trimsAt(left + LEFT.length)) while (end > this.#start && isSpace(this.#input[end - 1])) end--;
      this.#pos = end;
      this.#countLines();
      const token = this.#token('text');
      this.#skipTo(left);
      if (token.val !== '') return token;
    }
    return this.#leftDelim();
  }

  /** Whether a trim marker follows a left delimiter: a minus and a space. */
  #trimsAt(pos: number): boolean {
    return this.#input[pos] === '-' && isSpace(this.#input[pos + 1]);
  }

  #leftDelim(): Token {
    const after = this.#pos + LEFT.length;
    const inside = this.#trimsAt(after) ? after + 2 : after;
    if (this.#input.startsWith('/*', inside)) {
      this.#skipTo(inside);
      return this.#comment();
    }
    this.#pos = after;
    const token = this.#token('leftDelim');
    this.#insideAction = true;
    this.#skipTo(inside);
    this.#parens = 0;
    return token;
  }

  #comment(): Token {
    const end = this.#input.indexOf('*/', this.#pos + 2);
    if (end < 0) return this.#error('unclosed comment');
    const trims = this.#trimmedRightAt(end + 2);
    if (!trims && !this.#input.startsWith(RIGHT, end + 2))
      return this.#error('comment ends before closing delimiter');
    this.#pos = end + 2;
    this.#skipTo(this.#afterRight(trims));
    return this.#text();
  }

  #trimmedRightAt(pos: number): boolean {
    return isSpace(this.#input[pos]) && this.#input.startsWith(`-${RIGHT}`, pos + 1);
  }

  /** The position after a right delimiter that starts here, including the space that it trims. */
  #afterRight(trims: boolean): number {
    let pos = this.#pos + (trims ? 2 : 0) + RIGHT.length;
    if (trims) while (isSpace(this.#input[pos])) pos++;
    return pos;
  }

  #rightDelim(): Token {
    const trims = this.#trimmedRightAt(this.#pos);
    const after = this.#afterRight(trims);
    if (trims) this.#skipTo(this.#pos + 2);
    this.#pos += RIGHT.length;
    const token = this.#token('rightDelim');
    this.#skipTo(after);
    this.#insideAction = false;
    return token;
  }

  #inside(): Token {
    if (this.#trimmedRightAt(this.#pos) || this.#input.startsWith(RIGHT, this.#pos))
      return this.#parens === 0 ? this.#rightDelim() : this.#error('unclosed left paren');
    const char = this.#input[this.#pos];
    if (char === undefined) return this.#error('unclosed action');
    if (isSpace(char)) return this.#space();
    const next = this.#input[this.#pos + 1];
    if (/[-+0-9]/.test(char) || (char === '.' && (next === undefined || /[0-9]/.test(next))))
      return this.#number();
    if (char === '.' || char === '$') return this.#fieldOrVariable(char);
    const { rune, width } = decodeRune(this.#input, this.#pos);
    if (isAlphaNumeric(rune)) return this.#identifier();
    this.#pos += width;
    return this.#sign(char, rune);
  }

  #sign(char: string, rune: number): Token {
    switch (char) {
      case '=':
        return this.#token('assign');
      case ':':
        if (this.#input[this.#pos] !== '=') return this.#error('expected :=');
        this.#pos++;
        return this.#token('declare');
      case '|':
        return this.#token('pipe');
      case '"':
        return this.#quoted('"', 'string', 'unterminated quoted string');
      case '`':
        return this.#raw();
      case "'":
        return this.#quoted("'", 'charConstant', 'unterminated character constant');
      case '(':
        this.#parens++;
        return this.#token('leftParen');
      case ')':
        if (--this.#parens < 0) return this.#error('unexpected right paren');
        return this.#token('rightParen');
      default:
        if (rune < 0x80 && isPrint(rune)) return this.#token('char');
        return this.#error(unicodeText('unrecognized character in action: %#U', rune));
    }
  }

  #space(): Token {
    while (isSpace(this.#input[this.#pos])) {
      // The last space may belong to a right delimiter with a trim marker.
      if (this.#trimmedRightAt(this.#pos)) {
        if (this.#pos === this.#start) return this.#rightDelim();
        break;
      }
      if (this.#input[this.#pos] === '\n') this.#line++;
      this.#pos++;
    }
    return this.#token('space');
  }

  #runeHere(): number {
    return this.#pos < this.#input.length ? decodeRune(this.#input, this.#pos).rune : -1;
  }

  #alphaNumerics(): void {
    while (this.#pos < this.#input.length) {
      const { rune, width } = decodeRune(this.#input, this.#pos);
      if (!isAlphaNumeric(rune)) return;
      this.#pos += width;
    }
  }

  #identifier(): Token {
    this.#alphaNumerics();
    if (!this.#atTerminator()) return this.#badCharacter();
    const word = this.#input.slice(this.#start, this.#pos);
    if (isKeyword(word)) return this.#token(word);
    return this.#token(word === 'true' || word === 'false' ? 'bool' : 'identifier');
  }

  #badCharacter(): Token {
    return this.#error(unicodeText('bad character %#U', this.#runeHere()));
  }

  #fieldOrVariable(first: string): Token {
    this.#pos++;
    if (this.#atTerminator()) return this.#token(first === '$' ? 'variable' : '.');
    this.#alphaNumerics();
    if (!this.#atTerminator()) return this.#badCharacter();
    return this.#token(first === '$' ? 'variable' : 'field');
  }

  /** Whether a name may end here. */
  #atTerminator(): boolean {
    const char = this.#input[this.#pos];
    if (char === undefined || isSpace(char) || '.,|:)('.includes(char)) return true;
    return this.#input.startsWith(RIGHT, this.#pos);
  }

  #quoted(quote: string, kind: TokenKind, unterminated: string): Token {
    for (; ; this.#pos++) {
      let char = this.#input[this.#pos];
      if (char === '\\')
        char = this.#input[++this.#pos] === '\n' ? '\n' : this.#input[this.#pos] && 'escaped';
      if (char === undefined || char === '\n') return this.#error(unterminated);
      if (char === quote) break;
    }
    this.#pos++;
    return this.#token(kind);
  }

  #raw(): Token {
    const end = this.#input.indexOf('`', this.#pos);
    if (end < 0) return this.#error('unterminated raw quoted string');
    this.#pos = end + 1;
    this.#countLines();
    return this.#token('rawString');
  }

  #number(): Token {
    if (!this.#scanNumber()) return this.#badNumber();
    const sign = this.#input[this.#pos];
    if (sign !== '+' && sign !== '-') return this.#token('number');
    if (!this.#scanNumber() || this.#input[this.#pos - 1] !== 'i') return this.#badNumber();
    return this.#token('complex');
  }

  #badNumber(): Token {
    const text = this.#input.slice(this.#start, this.#pos);
    return this.#error(sprintf('bad number syntax: %q', [valueOf(STRING, text)]));
  }

  /** @returns false if a letter follows; the letter is then read too */
  #scanNumber(): boolean {
    const number =
      /[-+]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][-+]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9_]*)?)i?/y;
    number.lastIndex = this.#pos;
    this.#pos += number.exec(this.#input)?.[0].length ?? 0;
    const rune = this.#runeHere();
    if (rune < 0 || !isAlphaNumeric(rune)) return true;
    this.#pos += decodeRune(this.#input, this.#pos).width;
    return false;
  }
}

function unicodeText(format: string, rune: number): string {
  return sprintf(format, [valueOf(INT32, BigInt(rune))]);
}

export type TokenKind =
  | 'error'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'comment'
  | 'complex'
  | 'assign'
  | 'declare'
  | 'EOF'
  | 'field'
  | 'identifier'
  | 'leftDelim'
  | 'leftParen'
  | 'number'
  | 'pipe'
  | 'rawString'
  | 'rightDelim'
  | 'rightParen'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'
  | Keyword;

type Keyword =
  | '.'
  | 'block'
  | 'break'
  | 'continue'
  | 'define'
  | 'else'
  | 'end'
  | 'if'
  | 'nil'
  | 'range'
  | 'template'
  | 'with';

const KEYWORDS: ReadonlySet<string> = new Set<Keyword>([
  '.',
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
]);

function isKeyword(word: string): word is Keyword {
  return KEYWORDS.has(word);
}

export interface Token {
  readonly kind: TokenKind;
  readonly pos: number;
  readonly val: string;
  readonly line: number;
}

/** A token as it is named in an error. */
export function describeToken({ kind, val }: Token): string {
  if (kind === 'EOF') return 'EOF';
  if (kind === 'error') return val;
  if (isKeyword(kind)) return `<${val}>`;
  return sprintf(val.length > 10 ? '%.10q...' : '%q', [valueOf(STRING, val)]);
}
