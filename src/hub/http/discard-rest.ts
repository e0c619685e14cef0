import type { SecondTicks, Ticked } from '../flow/second-ticks.ts';
import type { HubRequest } from './transport.ts';

/** So long a client that has its answer may go on sending before its connection is cut; a client that reads the answer stops at once. */
const LINGER_SECONDS = 5;
const LINGER_BYTES = 16 * 1024 * 1024;
/** Small pieces count as this many bytes: their number is what costs. */
const LEAST_BYTES = 4 * 1024;

/**
 * Deals with what is left of a body after the request was answered without it: refused, too large or too slow. An HTTP/2 stream
 * is closed as RFC 9113 section 8.1 says (RST_STREAM with NO_ERROR after the whole answer). Over HTTP/1.1 the rest is read and dropped
 * for a moment, because a connection that is closed at once takes the answer with it.
 */
export function discardRest(request: HubRequest, ticks: SecondTicks): void {
  if ('stream' in request) {
    const { stream } = request;
    if (request.complete || stream.endAfterHeaders) return;
    request.resume();
    // Waits until the answer has been sent.
    stream.close();
    return;
  }
  if (request.complete || request.destroyed) return;
  const beganAt = ticks.seconds;
  let droppedBytes = 0;
  const { socket } = request;
  const done = (): void => {
    ticks.delete(linger);
    request.removeListener('data', onData);
  };
  const cut = (): void => {
    done();
    socket.destroy();
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
