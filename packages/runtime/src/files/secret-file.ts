import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { BerthError, errorText, InputError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** Tokens, secrets and certificates are small. A larger file is the wrong one. */
const MAX_BYTES = 1024 * 1024;
/** How long `current` returns the cached value. */
const FRESH_MS = 1_000;

export interface SecretFileOptions<T> {
  readonly file: string;
  /** What the file contains, for log messages: `plugin tokens`. */
  readonly what: string;
  /** The effect of an unusable file, for log messages: `no token is valid`. */
  readonly without: string;
  /** @throws InputError when the text is invalid */
  readonly parse: (text: string) => T;
  readonly log: Logger;
}

/**
 * The content of a file with credentials. Changes are detected by content, not by time stamps,
 * because two versions may have the same time and size. A missing, unreadable or broken file has no
 * value, so that its user denies access, until it can be read again. Each change is logged once,
 * without the content.
 */
export class SecretFile<T> {
  readonly #options: SecretFileOptions<T>;
  #text: string | undefined;
  #value: T | undefined;
  #problem: BerthError | undefined;
  #revision = 0;
  #stamp = '';
  #checkedMs = Number.NEGATIVE_INFINITY;

  /** Reads the file immediately; `problem` tells why there is no value. */
  constructor(options: SecretFileOptions<T>) {
    this.#options = options;
    this.#read();
  }

  /** The last value; undefined while the file cannot be used. */
  get value(): T | undefined {
    return this.#value;
  }

  /** Why there is no value: an InputError with the code `file.missing` or `file.unreadable`, or the error of `parse`. */
  get problem(): BerthError | undefined {
    return this.#problem;
  }

  /**
   * For files that may not exist yet.
   * @throws InputError `problem`, unless the file is only missing
   */
  valueOrMissing(): T | undefined {
    if (this.#problem !== undefined && this.#problem.code !== 'file.missing') throw this.#problem;
    return this.#value;
  }

  /** Increases with every change of the value. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * The value, read again if the last read is a second old, or in the future because the clock was
   * set back.
   */
  current(nowMs: number): T | undefined {
    const ageMs = nowMs - this.#checkedMs;
    if (ageMs < 0 || ageMs >= FRESH_MS) {
      this.#checkedMs = nowMs;
      this.check();
    }
    return this.#value;
  }

  /**
   * Reads the file again.
   * @returns whether the value changed
   */
  check(): boolean {
    const before = this.#problem;
    const changed = this.#read();
    const { file, what, without, log } = this.#options;
    const after = this.#problem;
    if (after !== undefined && after.message !== before?.message)
      log.error('secret file cannot be used', { file, what, without, error: after.message });
    else if (changed && after === undefined) log.info('secret file was read again', { file, what });
    return changed;
  }

  /** The same, but only if the file's time or size changed: cheap enough for every request. */
  checkIfTouched(): boolean {
    return stampOf(this.#options.file) !== this.#stamp && this.check();
  }

  /** Accepts the content that this process has written itself, without a log message. */
  accept(): void {
    this.#read();
  }

  #read(): boolean {
    const { file, parse } = this.#options;
    this.#stamp = stampOf(file);
    try {
      const text = readRegularFile(file);
      if (text === this.#text) return false;
      this.#text = text;
      this.#value = parse(text);
      this.#problem = undefined;
    } catch (error) {
      const wasThere = this.#value !== undefined;
      this.#problem = error instanceof BerthError ? error : unreadable(file, error);
      this.#value = undefined;
      // An unusable text is parsed again, because the cause may be outside of the file.
      this.#text = undefined;
      if (!wasThere) return false;
    }
    this.#revision += 1;
    return true;
  }
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}`;
}

/**
 * Refuses pipes and devices, which could block or never end.
 * @throws InputError, or the errors of the file system
 */
function readRegularFile(file: string): string {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(handle);
    const wrong = (problem: string): InputError =>
      new InputError(problem, { code: 'file.unreadable', subject: file });
    if (!found.isFile()) throw wrong('is not a regular file, so it cannot be read repeatedly');
    if (found.size > MAX_BYTES) throw wrong(`is larger than ${MAX_BYTES} bytes`);
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

function unreadable(file: string, cause: unknown): InputError {
  const code = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'file.missing' : 'file.unreadable';
  return new InputError(`cannot be read: ${errorText(cause)}`, { code, subject: file, cause });
}
