import type { Incoming, Upgrade } from '@berth/runtime/http/forward-request';
import { type Exchange, EXEMPT_EXCHANGE } from '../flow/exchange.ts';
import { type SecondTicks, TickEntry } from '../flow/second-ticks.ts';
import type { HubConnection } from './hub-connection.ts';
import type { HubRequest, HubResponse } from '../wire/api-response.ts';

/**
 * How long a client may take to read a response: the `--request-timeout` of kube-apiserver. Watches
 * have their own limits.
 */
const RESPONSE_TIMEOUT_SECONDS = 60;

/**
 * A request from its headers until its response was read or the client disconnected, and the
 * resources to release then.
 */
export class OpenRequest extends TickEntry {
  readonly request: HubRequest;
  readonly response: HubResponse;
  /** Of a request that asks for another protocol. */
  readonly upgrade: Upgrade | undefined;
  readonly connection: HubConnection;
  readonly #ticks: SecondTicks;
  #exchange: Exchange = EXEMPT_EXCHANGE;
  #sendingSince = 0;
  #closed = false;

  constructor({ request, response, upgrade }: Incoming, connection: HubConnection, ticks: SecondTicks) {
    super();
    this.request = request;
    this.response = response;
    this.upgrade = upgrade;
    this.connection = connection;
    this.#ticks = ticks;
    connection.requestBegan();
    response.on('close', () => this.#close());
  }

  /** The exchange of the authenticated caller. */
  get exchange(): Exchange {
    return this.#exchange;
  }

  enter(exchange: Exchange): void {
    this.#exchange = exchange;
    // The client may have disconnected while its credentials were checked.
    if (this.#closed) exchange.leave();
  }

  /** Starts the time limit for reading the response. */
  sendingBegan(): void {
    if (this.#closed) return;
    this.#sendingSince = this.#ticks.seconds;
    this.#ticks.add(this);
  }

  tick(seconds: number): void {
    if (seconds - this.#sendingSince >= RESPONSE_TIMEOUT_SECONDS) this.response.destroy();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ticks.delete(this);
    this.connection.requestEnded();
    this.#exchange.leave();
  }
}
