import type { Exchange } from '../flow/exchange.ts';
import type { SecondTicks } from '../flow/second-ticks.ts';
import { Ticked } from '../flow/second-ticks.ts';
import { badRequest, entityTooLarge, requestTimeout } from '../wire/status-errors.ts';
import type { HubRequest } from '../wire/hub-request.ts';
import { headerOf } from '../wire/hub-request.ts';

/** Like the real API server: 3 MiB of request body. */
export const BODY_LIMIT_BYTES = 3 * 1024 * 1024;
/** The time limit of a request of kube-apiserver (`--request-timeout`). */
const WHOLE_BODY_SECONDS = 60;
/** A body that takes longer than this must have come at the rate below from its beginning on. */
const GRACE_SECONDS = 10;
const BYTES_PER_SECOND = 4 * 1024;
/** Each piece costs as much processor time as a thousand bytes; a body in more pieces must have larger ones. */
const PIECES_OF_ANY_SIZE = 1_000;
const BYTES_PER_PIECE = 64;
const FIRST_BUFFER_BYTES = 16 * 1024;

interface BodyLimits {
  readonly limitBytes: number;
  readonly exchange: Exchange;
  readonly ticks: SecondTicks;
}

/**
 * Receives a body into memory. The room for all of it is taken before its first byte is read, so bodies that never end fill
 * the share of their own user and nothing else; until then the connection holds the sender back.
 * @throws StatusError 408 when the body is too slow, 413 when it is too large, 400 when the client went away, 429
 */
export async function receiveBody(
  request: HubRequest,
  { limitBytes, exchange, ticks }: BodyLimits,
): Promise<Buffer> {
  const encoding = headerOf(request, 'content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    throw badRequest(`content-encoding: got ${JSON.stringify(encoding)}, expected none`);
  const header = headerOf(request, 'content-length');
  const declared = header === undefined ? limitBytes : Number(header);
  if (declared > limitBytes) throw entityTooLarge(limitBytes);
  const waiting = exchange.takeBodyRoom(declared);
  if (waiting !== undefined) await waiting;
  return new BodyReader(request, limitBytes, ticks).read();
}

class BodyReader extends Ticked {
  readonly #request: HubRequest;
  readonly #limitBytes: number;
  readonly #ticks: SecondTicks;
  readonly #beganAt: number;
  /** The pieces so far. Kept in one buffer: a list of small pieces takes a hundred times the memory of their bytes. */
  #buffer: Buffer | undefined;
  #size = 0;
  #pieces = 0;
  #end: (error?: Error) => void = () => undefined;

  constructor(request: HubRequest, limitBytes: number, ticks: SecondTicks) {
    super();
    this.#request = request;
    this.#limitBytes = limitBytes;
    this.#ticks = ticks;
    this.#beganAt = ticks.seconds;
  }

  read(): Promise<Buffer> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      this.#end = (error) => {
        this.#ticks.delete(this);
        if (error === undefined) return resolve(this.#buffer?.subarray(0, this.#size) ?? Buffer.alloc(0));
        request.removeListener('data', this.#onData);
        reject(error);
      };
      const cutOff = (): void => this.#end(badRequest('the request was cut off'));
      // The client may have gone while the request waited for room: then nothing of it ever comes.
      if (isAborted(request)) return cutOff();
      this.#ticks.add(this);
      request.on('data', this.#onData);
      request.on('end', () => this.#end());
      request.on('aborted', cutOff);
      request.on('error', cutOff);
    });
  }

  tick(seconds: number): void {
    const age = seconds - this.#beganAt;
    const late = age >= WHOLE_BODY_SECONDS || (age >= GRACE_SECONDS && this.#size < age * BYTES_PER_SECOND);
    if (late) this.#end(requestTimeout('the body of the request came too slowly'));
  }

  readonly #onData = (piece: Buffer): void => {
    this.#pieces += 1;
    const size = this.#size + piece.length;
    if (size > this.#limitBytes) this.#end(entityTooLarge(this.#limitBytes));
    else if (this.#pieces > PIECES_OF_ANY_SIZE && size < this.#pieces * BYTES_PER_PIECE)
      this.#end(badRequest('the body of the request came in too many small pieces'));
    else this.#append(piece, size);
  };

  #append(piece: Buffer, size: number): void {
    if (this.#buffer === undefined) this.#buffer = piece;
    else {
      if (size > this.#buffer.length || this.#pieces === 2) {
        const larger = Buffer.allocUnsafe(Math.min(this.#limitBytes, Math.max(FIRST_BUFFER_BYTES, 2 * size)));
        this.#buffer.copy(larger, 0, 0, this.#size);
        this.#buffer = larger;
      }
      piece.copy(this.#buffer, this.#size);
    }
    this.#size = size;
  }
}

function isAborted(request: HubRequest): boolean {
  return 'stream' in request ? request.aborted || request.stream.destroyed : request.socket.destroyed;
}
