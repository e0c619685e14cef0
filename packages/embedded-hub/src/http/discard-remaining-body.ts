import type { SecondTicks } from '../flow/second-ticks.ts';
import { TickEntry } from '../flow/second-ticks.ts';
import type { HubRequest } from '../wire/hub-request.ts';

/**
 * How long a client may continue to send after the response before it is disconnected; most clients
 * stop when they have read it.
 */
const LINGER_SECONDS = 5;
const LINGER_BYTES = 16 * 1024 * 1024;
/** Smaller chunks count as this many bytes, because the cost is per chunk. */
const LEAST_BYTES = 4 * 1024;

/**
 * Discards the rest of a body after the response was sent without it: refused, too large or too
 * slow. The rest is read and dropped for a short time. If the connection or stream were closed
 * immediately, the client might not get the response: over HTTP/1.1 because of a connection reset,
 * over HTTP/2 because a RST_STREAM overtakes data that is still queued (Go's client then reports
 * NO_ERROR).
 */
export function discardRemainingBody(request: HubRequest, ticks: SecondTicks): void {
  if (request.complete || request.destroyed) return;
  if ('stream' in request && (request.stream.endAfterHeaders || request.stream.destroyed)) return;
  new Linger(request, ticks).begin();
}

class Linger extends TickEntry {
  readonly #request: HubRequest;
  readonly #ticks: SecondTicks;
  readonly #beganAt: number;
  #droppedBytes = 0;

  constructor(request: HubRequest, ticks: SecondTicks) {
    super();
    this.#request = request;
    this.#ticks = ticks;
    this.#beganAt = ticks.seconds;
  }

  begin(): void {
    this.#ticks.add(this);
    this.#request.on('data', this.#onData);
    this.#request.once('end', this.#done);
    this.#request.once('close', this.#done);
  }

  tick(seconds: number): void {
    if (seconds - this.#beganAt >= LINGER_SECONDS) this.#cut();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#droppedBytes += Math.max(chunk.length, LEAST_BYTES);
    if (this.#droppedBytes > LINGER_BYTES) this.#cut();
  };

  readonly #done = (): void => {
    this.#ticks.delete(this);
    this.#request.removeListener('data', this.#onData);
  };

  #cut(): void {
    this.#done();
    if ('stream' in this.#request) this.#request.stream.close();
    else this.#request.socket.destroy();
  }
}
