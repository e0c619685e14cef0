import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';

const DAY_MS = 86_400_000;
const LIFETIME_DAYS = 7;

/** Signs paths: a link gives access to its path only, until it expires. */
export class PreviewLinks {
  readonly #key: Buffer;

  /** @param file stores the key, so that links survive a restart; created if it is missing or damaged */
  constructor(file: string) {
    this.#key = keyInFile(file);
  }

  /**
   * Adds the expiry, seven to eight days from now, and the signature to a path. The result is the same all day, so that
   * a comment does not change because of it.
   */
  sign(path: string, nowMs: number): string {
    const expires = ((Math.floor(nowMs / DAY_MS) + LIFETIME_DAYS + 1) * DAY_MS) / 1000;
    return `${path}?expires=${expires}&signature=${this.#mac(path, String(expires)).toString('hex')}`;
  }

  isValid(path: string, query: Readonly<Record<string, unknown>>, nowMs: number): boolean {
    const { expires, signature } = query;
    if (typeof expires !== 'string' || typeof signature !== 'string') return false;
    if (!/^\d{1,12}$/.test(expires) || !/^[0-9a-f]{64}$/.test(signature)) return false;
    const isAuthentic = timingSafeEqual(Buffer.from(signature, 'hex'), this.#mac(path, expires));
    return isAuthentic && Number(expires) * 1000 > nowMs;
  }

  #mac(path: string, expires: string): Buffer {
    return createHmac('sha256', this.#key).update(`${path}\n${expires}`).digest();
  }
}

/** The 32 bytes of a key that survives a restart. The file is written if it is missing or damaged. */
export function keyInFile(file: string): Buffer {
  return readKey(file) ?? makeKey(file);
}

function readKey(file: string): Buffer | undefined {
  try {
    const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'hex');
    return key.length === 32 ? key : undefined;
  } catch {
    return undefined;
  }
}

function makeKey(file: string): Buffer {
  const key = randomBytes(32);
  mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  writeFileSync(file, `${key.toString('hex')}\n`, { mode: PRIVATE_FILE_MODE });
  return key;
}
