import { GoError } from '../value/go-error.ts';
import { describeToken, type Lexer, type Token, type TokenKind } from './lexer.ts';

/** Reads tokens with a lookahead of up to three. Errors name the line of the last read token. */
export class TokenReader {
  readonly #lexer: Lexer;
  readonly #name: string;
  readonly #ahead: Token[] = [];
  #last: Token | undefined;
  /** The line where the current action starts; 0 outside of an action. */
  actionLine = 0;

  constructor(lexer: Lexer, name: string) {
    this.#lexer = lexer;
    this.#name = name;
  }

  #current: Token | undefined;

  next(): Token {
    this.#current = this.#ahead.pop() ?? this.#read();
    return this.#current;
  }

  #read(): Token {
    this.#last = this.#lexer.next();
    return this.#last;
  }

  /** Puts back the last read token. */
  backup(): void {
    if (this.#current !== undefined) this.#ahead.push(this.#current);
  }

  /** Puts back the last read token and one before it. */
  backup2(before: Token): void {
    this.backup();
    this.#ahead.push(before);
  }

  peek(): Token {
    const token = this.next();
    this.backup();
    return token;
  }

  nextNonSpace(): Token {
    for (;;) {
      const token = this.next();
      if (token.kind !== 'space') return token;
    }
  }

  peekNonSpace(): Token {
    const token = this.nextNonSpace();
    this.backup();
    return token;
  }

  /** Puts tokens back, so that they are read next. */
  pushBack(...tokens: readonly Token[]): void {
    this.#ahead.push(...tokens.toReversed());
  }

  expect(kind: TokenKind, context: string): Token {
    const token = this.nextNonSpace();
    if (token.kind !== kind) this.unexpected(token, context);
    return token;
  }

  /** @throws GoError always */
  fail(text: string): never {
    throw new GoError(`template: ${this.#name}:${this.#last?.line ?? 0}: ${text}`);
  }

  /** @throws GoError always */
  unexpected(token: Token, context: string): never {
    if (token.kind !== 'error') this.fail(`unexpected ${describeToken(token)} in ${context}`);
    let extra = '';
    if (this.actionLine !== 0 && this.actionLine !== token.line) {
      extra = ` in action started at ${this.#name}:${this.actionLine}`;
      if (token.val.endsWith(' action')) extra = extra.slice(' in action'.length);
    }
    return this.fail(`${token.val}${extra}`);
  }
}
