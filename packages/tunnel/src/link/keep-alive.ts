import type { ClientHttp2Stream, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '@berth/runtime/clock/clock';

/** As konnectivity's client has it. */
const PING_EVERY_MS = 20_000;

/**
 * Pings the other end; one that does not answer until the next ping is due is gone, with all its connections. The first ping is
 * sent at once.
 * @param onRoundTrip gets each measured round trip
 * @returns stops it
 */
export function keepAlive(
  stream: ClientHttp2Stream | ServerHttp2Stream,
  clock: Clock,
  onRoundTrip: (ms: number) => void,
): () => void {
  const { session } = stream;
  let cancel: () => void = () => undefined;
  let isAnswered = true;
  const ping = (): void => {
    if (session === undefined || session.destroyed) return;
    if (!isAnswered) {
      session.destroy();
      return;
    }
    isAnswered = false;
    session.ping((error, durationMs) => {
      isAnswered = error === null;
      if (error === null) onRoundTrip(durationMs);
    });
    cancel = clock.schedule(PING_EVERY_MS, ping);
  };
  ping();
  return () => cancel();
}
