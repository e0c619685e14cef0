import { authenticate, type Credentials } from '../auth/authenticate.ts';
import type { UserInfo } from '../wire/user-info.ts';
import type { HubRequest, HubResponse } from '../wire/hub-request.ts';
import { isClientGone } from '../wire/hub-request.ts';

export interface OpenStream {
  readonly request: HubRequest;
  readonly response: HubResponse;
  /** The owner of the request's credentials; absent: there are none. */
  readonly caller?: UserInfo;
  readonly credentials?: Credentials;
}

/**
 * Watches and other answers without an end. The real API server lets a watch of a revoked user run until it times out; here it
 * ends as soon as the revocation is read.
 */
export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  #round = 0;

  /** Grows whenever all streams are looked at. */
  get round(): number {
    return this.#round;
  }

  /** @param authenticatedIn the round in which the caller was authenticated: what was revoked since is looked for now */
  async add(stream: OpenStream, authenticatedIn: number): Promise<void> {
    const { response } = stream;
    if (isClientGone(response)) return;
    this.#open.add(stream);
    response.once('close', () => this.#open.delete(stream));
    if (authenticatedIn !== this.#round) await endIfRevoked(stream);
  }

  /** Cuts the streams whose credentials are refused now, or now have other groups. @returns how many were cut */
  async endRevoked(): Promise<number> {
    this.#round += 1;
    let ended = 0;
    for (const stream of this.#open) if (await endIfRevoked(stream)) ended += 1;
    return ended;
  }
}

/** Checks the credentials of the request again. */
async function endIfRevoked({ request, response, caller, credentials }: OpenStream): Promise<boolean> {
  if (caller === undefined || credentials === undefined) return false;
  const found = await authenticate(request, credentials).catch(() => 'invalid' as const);
  if (typeof found === 'object' && identityOf(found) === identityOf(caller)) return false;
  // Data on its way to a slow client is dropped as well.
  response.destroy();
  return true;
}

function identityOf({ name, groups }: UserInfo): string {
  return JSON.stringify([name, groups]);
}
