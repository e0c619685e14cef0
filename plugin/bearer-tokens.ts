import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { InputError } from '../src/core/errors.ts';

/** A token that is easy to guess protects nothing. */
const MIN_TOKEN_LENGTH = 16;

/**
 * Tokens of a file, one per line: several are valid at the same time, so that a token can be exchanged without a gap. The file is
 * read again when it changes (a mounted Secret does). Comparison takes the same time whatever was sent.
 */
export class BearerTokens {
  readonly #file: string;
  #digests: readonly Buffer[] = [];
  #version = '';

  constructor(file: string) {
    this.#file = file;
    this.#reload();
  }

  /** @param header the Authorization header as it came */
  accepts(header: string | undefined): boolean {
    try {
      this.#reload();
    } catch {
      // The file is being exchanged: the tokens read last stay valid.
    }
    const sent = digest(/^Bearer +([^\s]+)\s*$/i.exec(header ?? '')?.[1] ?? '');
    let accepted = false;
    // No early exit: the time must not tell which token nearly fitted.
    for (const known of this.#digests) accepted = timingSafeEqual(known, sent) || accepted;
    return accepted;
  }

  #reload(): void {
    const { mtimeMs, size, ino } = statSync(this.#file);
    const version = `${mtimeMs} ${size} ${ino}`;
    if (version === this.#version) return;
    const tokens = readFileSync(this.#file, 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    if (tokens.length === 0 || tokens.some((token) => token.length < MIN_TOKEN_LENGTH))
      throw new InputError(`needs one token per line, each of at least ${MIN_TOKEN_LENGTH} characters`, {
        code: 'plugin.token',
        subject: this.#file,
        hint: 'make one with: openssl rand -hex 32',
      });
    this.#digests = tokens.map(digest);
    this.#version = version;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
