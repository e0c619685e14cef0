import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { keyInFile } from '../http/preview-links.ts';

/** How long somebody stays logged in, unless the hub refuses his token earlier. */
const LIFETIME_MS = 12 * 3_600_000;
const [IV_BYTES, TAG_BYTES] = [12, 16] as const;
/** Browsers refuse larger cookies. */
const MAX_COOKIE_CHARS = 3_900;

/**
 * The session of a viewer: his token, encrypted in a cookie (AES-256-GCM). The server keeps nothing, so a restart logs nobody out.
 * Scripts cannot read the cookie, and other sites cannot send it.
 */
export class SessionCookie {
  readonly #key: Buffer;
  readonly #isSecure: boolean;

  /** @param isSecure the page is served by TLS only, so the cookie must not travel without it */
  constructor(keyFile: string, isSecure: boolean) {
    this.#key = keyInFile(keyFile);
    this.#isSecure = isSecure;
  }

  /** @returns the header `set-cookie`; undefined for a token that is too long for a cookie */
  seal(token: string, nowMs: number): string | undefined {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
    const sealed = [iv, cipher.update(`${nowMs + LIFETIME_MS}\n${token}`, 'utf8'), cipher.final()];
    const value = Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url');
    return value.length > MAX_COOKIE_CHARS ? undefined : this.#header(value, LIFETIME_MS / 1000);
  }

  /** The header `set-cookie` that logs out. */
  end(): string {
    return this.#header('', 0);
  }

  /** @returns the token; undefined without a session, or after its end */
  open({ headers }: Pick<IncomingMessage, 'headers'>, nowMs: number): string | undefined {
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    const value = pairs.find((pair) => pair.startsWith(`${this.#name}=`))?.slice(this.#name.length + 1);
    const bytes = Buffer.from(value ?? '', 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const sealed = bytes.subarray(IV_BYTES, -TAG_BYTES);
      const text = Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
      const at = text.indexOf('\n');
      return Number(text.slice(0, at)) > nowMs ? text.slice(at + 1) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Browsers accept a name with this prefix only over TLS, from this host, for all its paths. */
  get #name(): string {
    return this.#isSecure ? '__Host-berth-session' : 'berth-session';
  }

  #header(value: string, maxAgeSeconds: number): string {
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.#name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
  }
}
