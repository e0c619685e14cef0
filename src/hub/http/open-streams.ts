import type { UserInfo } from '../write/write-request.ts';
import type { HubResponse } from './transport.ts';

/** Who a request comes from, asked again; undefined when its credentials are not good any more. */
type WhoIsIt = () => Promise<UserInfo | undefined>;

export interface OpenStream {
  readonly user: UserInfo;
  readonly whoIsIt: WhoIsIt;
}

/**
 * Watches and other answers without an end. The real API server lets a watch of a revoked user run until it times out; here it
 * ends as soon as the revocation is read.
 */
export class OpenStreams {
  readonly #open = new Map<HubResponse, OpenStream>();
  #round = 0;

  /** Grows whenever all streams are looked at. */
  get round(): number {
    return this.#round;
  }

  /** @param authenticatedIn the round in which the user was authenticated: what was revoked since is looked for now */
  async add(response: HubResponse, stream: OpenStream, authenticatedIn: number): Promise<void> {
    if (isClosed(response)) return;
    this.#open.set(response, stream);
    response.once('close', () => this.#open.delete(response));
    if (authenticatedIn !== this.#round) await endIfRevoked(response, stream);
  }

  /** Cuts the streams whose credentials are refused now, or stand for other groups. @returns how many were cut */
  async endRevoked(): Promise<number> {
    this.#round += 1;
    let ended = 0;
    for (const [response, stream] of this.#open) if (await endIfRevoked(response, stream)) ended += 1;
    return ended;
  }
}

async function endIfRevoked(response: HubResponse, { user, whoIsIt }: OpenStream): Promise<boolean> {
  const found = await whoIsIt().catch(() => undefined);
  if (found !== undefined && identityOf(found) === identityOf(user)) return false;
  // What is on its way to a client that reads slowly goes as well.
  response.destroy();
  return true;
}

/** Only HTTP/1.1 answers say it of themselves. */
function isClosed(response: HubResponse): boolean {
  return 'stream' in response ? response.stream.destroyed : response.destroyed;
}

function identityOf({ name, groups }: UserInfo): string {
  return JSON.stringify([name, groups]);
}
