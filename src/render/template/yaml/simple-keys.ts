import type { YamlCursor } from './yaml-cursor.ts';
import { scannerError } from './yaml-error.ts';

/** A place where a key without `?` may have begun. */
export interface SimpleKey {
  isPossible: boolean;
  /** Whether there must be a `:`, because of its indentation. */
  readonly isRequired: boolean;
  readonly token: number;
  readonly line: number;
  readonly column: number;
  readonly index: number;
}

/** A key ends in its line, and after this many characters at most. */
const LONGEST_KEY = 1024;

/** The keys that may be open, one for each level of brackets. */
export class SimpleKeys {
  readonly #keys: SimpleKey[] = [];
  /** The number of a token, and at which level a key may begin with it. */
  readonly #levelOf = new Map<number, number>();
  readonly #cursor: YamlCursor;

  constructor(cursor: YamlCursor) {
    this.#cursor = cursor;
    this.enter(0);
  }

  /** A bracket opens. */
  enter(token: number): void {
    const { line, column, index } = this.#cursor;
    this.#keys.push({ isPossible: false, isRequired: false, token, line, column, index });
  }

  /** A bracket closes. */
  leave(): void {
    const key = this.#keys.pop();
    if (key !== undefined) this.#levelOf.delete(key.token);
  }

  /** A key may begin here. */
  save(token: number, isRequired: boolean): void {
    this.remove();
    const { line, column, index } = this.#cursor;
    this.#keys[this.#keys.length - 1] = { isPossible: true, isRequired, token, line, column, index };
    this.#levelOf.set(token, this.#keys.length - 1);
  }

  /** What began cannot be a key any more. */
  remove(): void {
    const key = this.#keys.at(-1);
    if (key?.isPossible !== true) return;
    if (key.isRequired) throw this.#missing();
    this.use(key);
  }

  /** It is a key, or is none. */
  use(key: SimpleKey): void {
    key.isPossible = false;
    this.#levelOf.delete(key.token);
  }

  /** The key that may have begun at this level of brackets. */
  current(): SimpleKey | undefined {
    const key = this.#keys.at(-1);
    return key !== undefined && this.#isValid(key) ? key : undefined;
  }

  /** Whether a key may begin with this token. */
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
