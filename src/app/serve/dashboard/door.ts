import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { type Right, type Viewer, Viewers } from '../../../controllers/dashboard/viewers.ts';
import type { ControllerHttpOptions } from '../http/controller-http-options.ts';
import { keyInFile } from '../http/preview-links.ts';

interface Credential {
  readonly token: string;
  /** Whether the hub still knows it. */
  readonly isStill: () => Promise<boolean>;
}

/** Who may look and act, and how somebody logs in. */
export class Door {
  readonly #parts: ControllerHttpOptions;
  readonly #viewers: Viewers;
  readonly cookie: SessionCookie;

  constructor(parts: ControllerHttpOptions) {
    this.#parts = parts;
    const { api, reviews = api, clock, dataDir, http } = parts.options;
    const { placements } = parts.inventory;
    this.#viewers = new Viewers(reviews, clock, () =>
      placements.store.list().map(({ metadata }) => metadata.namespace ?? ''),
    );
    const isSecure = http?.tls !== undefined || http?.publicUrl?.startsWith('https:') === true;
    this.cookie = new SessionCookie(`${dataDir}/dashboard/session-key`, isSecure);
  }

  get nowMs(): number {
    return this.#parts.options.clock.now();
  }

  /** @throws the errors of the hub */
  identify(token: string): Promise<Viewer | undefined> {
    return this.#viewers.identify(token);
  }

  /** Answers 401 without a token of the hub; else `serve` answers. */
  async admit(
    request: Request,
    response: Response,
    serve: (viewer: Viewer, credential: Credential) => Promise<void>,
  ): Promise<void> {
    const [, bearer] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    const token = bearer ?? this.cookie.open(request, this.nowMs);
    const viewer = token === undefined ? undefined : await this.identify(token);
    if (token === undefined || viewer === undefined)
      response.status(401).json({ message: 'log in with a token of the hub' });
    else await serve(viewer, { token, isStill: async () => (await this.identify(token)) !== undefined });
  }

  /** @throws the errors of the hub */
  may(token: string, right: Right): Promise<boolean> {
    return this.#viewers.may(token, right);
  }

  log(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#parts.options.log.info(message, fields);
  }
}

/**
 * Refuses what another site could make a browser send: forms cannot send JSON, and browsers say where a request comes from. The
 * cookie is not sent then either.
 */
export function refuseOtherSites(request: Request, response: Response, next: () => void): void {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = request.headers;
  const isForeign =
    (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== request.headers.host)) ||
    site !== 'same-origin';
  if (isForeign) response.status(403).json({ message: 'this request comes from another site' });
  else if (request.method === 'POST' && request.is('application/json') === false)
    response.status(415).json({ message: 'expected application/json' });
  else next();
}

/** How long somebody stays logged in, unless the hub refuses his token earlier. */
const LIFETIME_MS = 12 * 3_600_000;
const [IV_BYTES, TAG_BYTES] = [12, 16] as const;
/** Browsers refuse larger cookies. */
const MAX_COOKIE_CHARS = 3_900;

/**
 * The session of a viewer: his token, encrypted in a cookie (AES-256-GCM). The server keeps nothing, so a restart logs nobody out.
 * Scripts cannot read the cookie, and other sites cannot send it.
 */
class SessionCookie {
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
