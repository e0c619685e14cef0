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
 * Watches and other streams. kube-apiserver lets a watch of a revoked user run until it times out;
 * here it ends when the revocation is read.
 */
export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  #round = 0;

  /** Increases each time that all streams are checked. */
  get round(): number {
    return this.#round;
  }

  /**
   * @param authenticatedIn the round in which the caller was authenticated: later revocations are
   * checked now
   */
  async add(stream: OpenStream, authenticatedIn: number): Promise<void> {
    const { response } = stream;
    if (isClientGone(response)) return;
    this.#open.add(stream);
    response.once('close', () => this.#open.delete(stream));
    if (authenticatedIn !== this.#round) await endIfRevoked(stream);
  }

  /**
   * Ends the streams whose credentials are no longer valid or have other groups now.
   * @returns their number
   */
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
  // Buffered data of a slow client is dropped, too.
  response.destroy();
  return true;
}

function identityOf({ name, groups }: UserInfo): string {
  return JSON.stringify([name, groups]);
}
