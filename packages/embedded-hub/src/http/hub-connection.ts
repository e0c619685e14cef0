import type { Socket } from 'node:net';
import type { ServerHttp2Session } from 'node:http2';
import { MASTERS_GROUP } from '../auth/rbac/authorizer.ts';
import type { ConnectionLimits, CountedConnection } from '../flow/connection-limits.ts';
import { type SecondTicks, TickEntry } from '../flow/second-ticks.ts';
import type { UserInfo } from '../wire/user-info.ts';

/** Time limit of the TLS handshake, and of the headers of the first request after it. */
const GREETING_SECONDS = 10;
/** A connection without a request is closed after this; clients open another when they need one. */
const IDLE_SECONDS = 120;

/** One connection of a client, from its first packet on: its time limits and its user. */
export class HubConnection extends TickEntry implements CountedConnection {
  readonly address: string;
  readonly #raw: Socket;
  readonly #limits: ConnectionLimits;
  readonly #ticks: SecondTicks;
  #session: ServerHttp2Session | undefined;
  #phase: 'handshake' | 'first-request' | 'serving' = 'handshake';
  #since: number;
  #openRequests = 0;
  #isIdentified = false;
  #user: string | undefined;

  constructor(raw: Socket, limits: ConnectionLimits, ticks: SecondTicks) {
    super();
    this.#raw = raw;
    this.#limits = limits;
    this.#ticks = ticks;
    this.#since = ticks.seconds;
    this.address = raw.remoteAddress ?? '';
  }

  /** @returns false when the limit of connections is reached */
  open(): boolean {
    if (!this.#limits.open(this)) return false;
    this.#ticks.add(this);
    this.#raw.once('close', () => this.#close());
    return true;
  }

  /** The TLS handshake is done. */
  secured(session: ServerHttp2Session | undefined): void {
    this.#session = session;
    this.#phase = 'first-request';
    this.#since = this.#ticks.seconds;
  }

  requestBegan(): void {
    this.#phase = 'serving';
    this.#openRequests += 1;
  }

  requestEnded(): void {
    this.#openRequests -= 1;
    this.#since = this.#ticks.seconds;
  }

  /** The user of this connection. */
  identify(caller: UserInfo): void {
    const user = caller.groups.includes(MASTERS_GROUP) ? undefined : caller.name;
    if (this.#isIdentified && this.#user === user) return;
    this.#isIdentified = true;
    this.#user = user;
    if (!this.#limits.identify(this, user)) this.drop();
  }

  tick(seconds: number): void {
    const age = seconds - this.#since;
    if (this.#phase !== 'serving') {
      if (age >= GREETING_SECONDS) this.drop();
      return;
    }
    if (this.#openRequests > 0 || age < IDLE_SECONDS) return;
    // An HTTP/2 client gets GOAWAY first, so that it retries a request that it has just sent on
    // another connection.
    if (this.#session === undefined || age >= IDLE_SECONDS + GREETING_SECONDS) this.drop();
    else if (!this.#session.closed) this.#session.close();
  }

  /** Not in this turn: Node.js 20 uses the memory of a session that an event of its own destroyed (nodejs/node#64113). */
  drop(): void {
    setImmediate(() => {
      this.#session?.destroy();
      this.#raw.destroy();
    });
  }

  #close(): void {
    this.#ticks.delete(this);
    this.#limits.close(this);
  }
}
