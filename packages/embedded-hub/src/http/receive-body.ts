import type { Exchange } from '../flow/exchange.ts';
import { type SecondTicks, TickEntry } from '../flow/second-ticks.ts';
import { type HubRequest, headerOf } from '../wire/api-response.ts';
import { badRequest, entityTooLarge, bodyTimeout } from '../wire/status-errors.ts';

/** Largest body of a request: 3 MiB, as in kube-apiserver (MaxRequestBodyBytes). */
export const BODY_LIMIT_BYTES = 3 * 1024 * 1024;

interface BodyLimits {
  readonly limitBytes: number;
  readonly exchange: Exchange;
  readonly ticks: SecondTicks;
}

/**
 * Receives a body into memory. Memory for all of it is reserved before its first byte is read, so that bodies that never end use
 * only the share of their own user. Until then the socket is not read, and TCP flow control stops the sender.
 * @throws StatusError 408 when the body is too slow, 413 when it is too large,
 * 400 when the client disconnects or sends it encoded or in too many small chunks, 429 when there is no memory for it
 */
export async function receiveBody(
  request: HubRequest,
  { limitBytes, exchange, ticks }: BodyLimits,
): Promise<Buffer> {
  const encoding = headerOf(request, 'content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    throw badRequest(`content-encoding: got ${JSON.stringify(encoding)}, expected none`);
  const contentLength = headerOf(request, 'content-length');
  const reservedBytes = contentLength === undefined ? limitBytes : Number(contentLength);
  if (reservedBytes > limitBytes) throw entityTooLarge(limitBytes);
  const reserved = exchange.reserveBody(reservedBytes);
  if (reserved !== undefined) await reserved;
  return new BodyReader(request, limitBytes, ticks).read();
}

/** A body must be complete after this time, the default of kube-apiserver's `--request-timeout`. */
const BODY_TIMEOUT_SECONDS = 60;
/** After this time, the average rate of a body since its beginning must be at least MIN_BYTES_PER_SECOND. */
const GRACE_SECONDS = 10;
const MIN_BYTES_PER_SECOND = 4 * 1024;
/**
 * Each chunk costs as much CPU time as a thousand bytes. A body of more than UNCHECKED_CHUNKS chunks must have at least
 * MIN_BYTES_PER_CHUNK on average.
 */
const UNCHECKED_CHUNKS = 1_000;
const MIN_BYTES_PER_CHUNK = 64;
const FIRST_BUFFER_BYTES = 16 * 1024;

class BodyReader extends TickEntry {
  readonly #request: HubRequest;
  readonly #limitBytes: number;
  readonly #ticks: SecondTicks;
  readonly #startedAt: number;
  /** The bytes received so far, in one buffer: a list of small chunks would need a hundred times the memory of their bytes. */
  #buffer: Buffer | undefined;
  #size = 0;
  #chunks = 0;
  #finish: (error?: Error) => void = () => undefined;

  constructor(request: HubRequest, limitBytes: number, ticks: SecondTicks) {
    super();
    this.#request = request;
    this.#limitBytes = limitBytes;
    this.#ticks = ticks;
    this.#startedAt = ticks.seconds;
  }

  read(): Promise<Buffer> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      this.#finish = (error) => {
        this.#ticks.delete(this);
        if (error === undefined) return resolve(this.#buffer?.subarray(0, this.#size) ?? Buffer.alloc(0));
        request.removeListener('data', this.#onData);
        reject(error);
      };
      const onInterrupted = (): void => this.#finish(badRequest('the request was cut off'));
      // If the client disconnected while the request waited for memory, no event will report it.
      if (isAborted(request)) return onInterrupted();
      this.#ticks.add(this);
      request.on('data', this.#onData);
      request.on('end', () => this.#finish());
      request.on('aborted', onInterrupted);
      request.on('error', onInterrupted);
    });
  }

  tick(seconds: number): void {
    const age = seconds - this.#startedAt;
    const isTooSlow =
      age >= BODY_TIMEOUT_SECONDS || (age >= GRACE_SECONDS && this.#size < age * MIN_BYTES_PER_SECOND);
    if (isTooSlow) this.#finish(bodyTimeout('the body of the request arrived too slowly'));
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks += 1;
    const size = this.#size + chunk.length;
    if (size > this.#limitBytes) this.#finish(entityTooLarge(this.#limitBytes));
    else if (this.#chunks > UNCHECKED_CHUNKS && size < this.#chunks * MIN_BYTES_PER_CHUNK)
      this.#finish(badRequest('the body of the request arrived in too many small chunks'));
    else this.#append(chunk, size);
  };

  #append(chunk: Buffer, size: number): void {
    if (this.#buffer === undefined) this.#buffer = chunk;
    else {
      if (size > this.#buffer.length || this.#chunks === 2) {
        const larger = Buffer.allocUnsafe(Math.min(this.#limitBytes, Math.max(FIRST_BUFFER_BYTES, 2 * size)));
        this.#buffer.copy(larger, 0, 0, this.#size);
        this.#buffer = larger;
      }
      chunk.copy(this.#buffer, this.#size);
    }
    this.#size = size;
  }
}

function isAborted(request: HubRequest): boolean {
  return 'stream' in request ? request.aborted || request.stream.destroyed : request.socket.destroyed;
}

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

/**
 * How long a client may continue to send after the response before it is disconnected; most clients
 * stop when they have read it.
 */
const LINGER_SECONDS = 5;
const LINGER_BYTES = 16 * 1024 * 1024;
/** Smaller chunks count as this many bytes, because the cost is per chunk. */
const LEAST_BYTES = 4 * 1024;

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
