import type { Request, Response } from 'express';
import { type Right, type Viewer, Viewers } from '../../../controllers/dashboard/viewers.ts';
import type { ControllerHttpOptions } from '../http/controller-http-options.ts';
import { SessionCookie } from './session-cookie.ts';

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
