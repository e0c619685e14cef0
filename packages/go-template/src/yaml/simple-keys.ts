import type { YamlCursor } from './yaml-cursor.ts';
import { scannerError } from './yaml-error.ts';

/** A place where a key without `?` may start. */
export interface SimpleKey {
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
export class SimpleKeys {
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
