import {
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { startAwakeTimeout } from './awake-timeout.ts';
import { Http1Transport, type TransportOptions } from './http1-transport.ts';
import { Http2Sessions, type PooledSession } from './http2-sessions.ts';
import {
  endOnAbort,
  headerTimeoutError,
  type KubeResponse,
  type KubeTransport,
  noResponseError,
  type WireRequest,
} from './kube-transport.ts';
import type { WriteFence } from './write-fence.ts';

/**
 * HTTP/2 if the server supports it. All requests and watches of a cluster share one connection, which saves TLS
 * handshakes and work at both ends (docs/adr/0008-http2-client.md). Otherwise HTTP/1.1.
 */
export class TlsTransport implements KubeTransport {
  readonly #options: TransportOptions;
  readonly #sessions: Http2Sessions;
  #http1: Http1Transport | undefined;

  constructor(options: TransportOptions, sessions = sessionsFor(options)) {
    this.#options = options;
    this.#sessions = sessions;
  }

  async send(request: WireRequest): Promise<KubeResponse> {
    if (this.#http1 !== undefined) return this.#http1.send(request);
    // A server that is about to close refuses streams that it has not started to process. They are safe to send again.
    for (let attempt = 0; ; attempt++) {
      const pooled = await this.#takeSession(request);
      if (pooled === undefined) {
        this.#http1 ??= new Http1Transport(this.#options);
        return this.#http1.send(request);
      }
      try {
        return await this.#sendOver(pooled, request);
      } catch (error) {
        if (!(error instanceof RefusedStream) || attempt > 0)
          throw noResponseError(this.#options.base.origin, request.subject, error);
      }
    }
  }

  retire(): void {
    this.#sessions.retire();
    this.#http1?.retire();
  }

  close(): void {
    this.#sessions.close();
    this.#http1?.close();
  }

  async #takeSession(request: WireRequest): Promise<PooledSession | undefined> {
    try {
      return await this.#sessions.take();
    } catch (error) {
      throw noResponseError(this.#options.base.origin, request.subject, error);
    }
  }

  #sendOver(pooled: PooledSession, request: WireRequest): Promise<KubeResponse> {
    const { base, headerTimeoutMs } = this.#options;
    const { subject, signal, body, fence } = request;
    const headers = {
      ...request.headers,
      [constants.HTTP2_HEADER_METHOD]: request.method,
      [constants.HTTP2_HEADER_PATH]: request.path,
      [constants.HTTP2_HEADER_AUTHORITY]: base.host,
    };
    return new Promise((resolve, reject) => {
      let stream: ClientHttp2Stream;
      try {
        fence?.enter();
        stream = openStream(pooled, headers, {
          endStream: body === undefined,
          waitForTrailers: fence !== undefined,
          ...(signal === undefined ? {} : { signal }),
        });
      } catch (error) {
        // The connection has ended since, or the request must no longer be sent.
        this.#sessions.done(pooled);
        reject(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      let isOver = false;
      // A stream of a connection that is gone may never tell that it is closed.
      const finish = (error: Error): void => {
        endLimit();
        reject(error);
        if (isOver) return;
        isOver = true;
        this.#sessions.done(pooled);
      };
      const endLimit = startAwakeTimeout(headerTimeoutMs, () => {
        const error = headerTimeoutError(subject, headerTimeoutMs);
        this.#sessions.probe(pooled, false);
        stream.destroy(error);
        finish(error);
      });
      if (fence !== undefined) endFenced(stream, fence);
      stream.once('response', (received: IncomingHttpHeaders) => {
        endLimit();
        resolve({
          statusCode: Number(received[':status']),
          headers: received,
          body: stream,
          isWhole: () => stream.rstCode === constants.NGHTTP2_NO_ERROR && !stream.aborted,
        });
      });
      // Stays attached: after the body was read, an error has no other listener.
      stream.on('error', (error: Error) => {
        reject(stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? new RefusedStream() : error);
      });
      stream.once('close', () => {
        finish(new Error('the connection was closed'));
        // A watch is cancelled when it receives nothing for too long. Then the connection may be broken.
        if (signal?.aborted === true) this.#sessions.probe(pooled, true);
      });
      if (body !== undefined) stream.end(body);
    });
  }
}

function sessionsFor({ base, tls, proxy, headerTimeoutMs }: TransportOptions): Http2Sessions {
  return new Http2Sessions({ base, tls, proxy, connectTimeoutMs: headerTimeoutMs });
}

/** @throws RefusedStream when the connection has ended since it was taken: nothing was sent */
function openStream(
  { session }: PooledSession,
  headers: OutgoingHttpHeaders,
  options: ClientSessionRequestOptions,
): ClientHttp2Stream {
  try {
    return session.request(headers, options);
  } catch (error) {
    if (session.closed || session.destroyed) throw new RefusedStream();
    throw error;
  }
}

/**
 * Calls the fence directly before the frame that completes the request. Node.js writes frames at the end of an event
 * loop turn, so a process could be suspended between creating and sending a request. A server does not act on an
 * incomplete request.
 */
function endFenced(stream: ClientHttp2Stream, fence: WriteFence): void {
  stream.once('wantTrailers', () => {
    try {
      const abortSignal = fence.enter();
      stream.once(
        'close',
        endOnAbort(abortSignal, (reason) => stream.destroy(reason)),
      );
      // Without trailers this is an empty DATA frame that ends the stream.
      stream.sendTrailers({});
    } catch (error) {
      // Deferred, because frames are being written now.
      setImmediate(() => stream.destroy(error as Error));
    }
  });
}

class RefusedStream extends Error {
  constructor() {
    super('the server refused the stream');
  }
}
