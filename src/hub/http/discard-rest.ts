import type { SecondTicks, Ticked } from '../flow/second-ticks.ts';
import type { HubRequest } from './transport.ts';

/** So long a client that has its answer may go on sending before it is cut; a client that reads the answer stops at once. */
const LINGER_SECONDS = 5;
const LINGER_BYTES = 16 * 1024 * 1024;
/** Small pieces count as this many bytes: their number is what costs. */
const LEAST_BYTES = 4 * 1024;

/**
 * Deals with what is left of a body after the request was answered without it: refused, too large or too slow. The rest is read and
 * dropped for a moment. A connection or stream that is closed at once takes the answer with it: over HTTP/1.1 by a reset of the
 * connection, over HTTP/2 because a RST_STREAM overtakes data that is still queued (Go's client then reports NO_ERROR).
 */
export function discardRest(request: HubRequest, ticks: SecondTicks): void {
  if (request.complete || request.destroyed) return;
  if ('stream' in request && (request.stream.endAfterHeaders || request.stream.destroyed)) return;
  const beganAt = ticks.seconds;
  let droppedBytes = 0;
  const done = (): void => {
    ticks.delete(linger);
    request.removeListener('data', onData);
  };
  const cut = (): void => {
    done();
    if ('stream' in request) request.stream.close();
    else request.socket.destroy();
  };
  const linger: Ticked = {
    tick: (seconds) => {
      if (seconds - beganAt >= LINGER_SECONDS) cut();
    },
  };
  const onData = (chunk: Buffer): void => {
    droppedBytes += Math.max(chunk.length, LEAST_BYTES);
    if (droppedBytes > LINGER_BYTES) cut();
  };
  ticks.add(linger);
  request.on('data', onData);
  request.once('end', done);
  request.once('close', done);
}
