import type http from 'node:http';
import {
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@berth/runtime/clock/clock';
import { BerthError, errorText, InputError, TransientError } from '@berth/runtime/errors';
import { type ImpersonatedUser, impersonationHeaders } from '../config/impersonation-headers.ts';
import type { KubeConfig, KubeCredentials } from '../config/kube-config.ts';
import { startAwakeTimeout } from './awake-timeout.ts';
import { Http1Transport, type TransportOptions } from './http1-transport.ts';
import { Http2Sessions, type PooledSession } from './http2-sessions.ts';
import { networkError, type RequestSubject } from './kube-errors.ts';
import {
  type KubeResponse,
  type KubeTransport,
  endOnAbort,
  headerTimeoutError,
  noResponseError,
  type WireRequest,
  type WriteFence,
} from './kube-transport.ts';
import type { ServerOutage } from './server-outage.ts';

export interface KubeRequest extends RequestSubject {
  readonly query?: string | undefined;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  /** Default: `application/json`. */
  readonly accept?: string | undefined;
  /** Aborts the request and its response. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the response has no end, like a watch. */
  readonly isStream?: boolean | undefined;
  /** For a write: called each time that it is sent. */
  readonly fence?: WriteFence | undefined;
}

export interface ConnectionOptions {
  readonly config: KubeConfig;
  readonly clock: Clock;
  /** The limit until the headers of the response arrive. */
  readonly requestTimeoutMs: number;
  /** Servers use the part before the first `/` as field manager of writes that name none. */
  readonly userAgent: string;
  /** Used instead of the impersonated user in the kubeconfig. */
  readonly impersonate: ImpersonatedUser | undefined;
  /** Is notified of each request whether it was answered. */
  readonly outage?: Pick<ServerOutage, 'answered' | 'failed' | 'refused'> | undefined;
}

/**
 * Sends requests to the current cluster of a kubeconfig over kept-alive connections, with its TLS material and
 * credentials.
 */
export class KubeConnection {
  readonly server: string;
  readonly #base: URL;
  readonly #options: ConnectionOptions;
  /** Headers of all requests, with lower-case names. */
  readonly #headers: http.OutgoingHttpHeaders;
  readonly #closing = new AbortController();
  #transport: KubeTransport | undefined;
  #credentials: KubeCredentials | undefined;
  #loading: Promise<KubeCredentials> | undefined;
  #loadedAtMs = 0;

  /** @throws InputError `kubeconfig.unusable` when the kubeconfig names no server */
  constructor(options: ConnectionOptions) {
    const { config, userAgent, impersonate } = options;
    this.#options = options;
    this.#base = requireServer(config);
    this.server = this.#base.href.replace(/\/$/, '');
    this.#headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...impersonationHeaders(impersonate ?? config.impersonated()),
    };
  }

  /**
   * Resolves when the headers have arrived; the caller reads the body. If credentials are refused, they are read again
   * and the request is repeated once.
   */
  async open(request: KubeRequest): Promise<KubeResponse> {
    const used = await this.#currentCredentials();
    const response = await this.#send(request, used);
    if (response.statusCode !== 401) return response;
    const { outage } = this.#options;
    const renewed = await this.#renewedCredentials(used).catch((error: unknown) => {
      response.body.resume();
      outage?.refused();
      throw noOtherCredentials(request, error);
    });
    if (renewed !== undefined) response.body.resume();
    const last = renewed === undefined ? response : await this.#send(request, renewed);
    if (last.statusCode === 401) outage?.refused();
    return last;
  }

  /** Requests in progress fail now, and all later ones fail as well. */
  close(): void {
    this.#closing.abort(networkError('the client was closed', { method: 'connect', path: this.server }));
    this.#transport?.close();
    this.#transport = undefined;
  }

  async #send(request: KubeRequest, credentials: KubeCredentials): Promise<KubeResponse> {
    if (this.#closing.signal.aborted) throw networkError('the client was closed', request);
    const { method, path, query, body, accept } = request;
    const { authorization } = credentials;
    const fullPath = this.#base.pathname + path.replace(/^\//, '') + (query === undefined ? '' : `?${query}`);
    // Without a length, Node.js sends DELETE bodies chunked, which some servers and proxies drop.
    const bodyHeaders =
      body === undefined
        ? undefined
        : {
            'content-type': request.contentType ?? 'application/json',
            'content-length': Buffer.byteLength(body),
          };
    const { clock, outage } = this.#options;
    const sentAtMs = clock.now();
    try {
      const response = await this.#transportFor(credentials).send({
        subject: request,
        method,
        path: fullPath,
        headers: {
          ...this.#headers,
          ...(authorization !== undefined && { authorization }),
          ...bodyHeaders,
          ...(accept !== undefined && { accept }),
        },
        body,
        signal: request.signal,
        fence: request.fence,
      });
      if (request.isStream !== true) outage?.answered(response.statusCode);
      return response;
    } catch (error) {
      if (request.signal?.aborted !== true) outage?.failed(sentAtMs, error);
      throw error;
    }
  }

  /**
   * Changed files are noticed within CREDENTIALS_MAX_AGE_MS. While they cannot be read, the previous credentials stay
   * in use.
   */
  async #currentCredentials(): Promise<KubeCredentials> {
    const last = this.#credentials;
    const now = this.#options.clock.now();
    const isValid = last !== undefined && now <= (last.expiresAtMs ?? Infinity);
    if (isValid && Math.abs(now - this.#loadedAtMs) < CREDENTIALS_MAX_AGE_MS) return last;
    try {
      return await this.#load(undefined);
    } catch (error) {
      if (!isValid || this.#closing.signal.aborted) throw error;
      this.#loadedAtMs = now;
      return last;
    }
  }

  /** Credentials that differ from those that the server refused; undefined if there are none. */
  async #renewedCredentials(refused: KubeCredentials): Promise<KubeCredentials | undefined> {
    const isDifferent = (one: KubeCredentials | undefined): boolean =>
      one !== undefined && !sameCredentials(one, refused);
    if (isDifferent(this.#credentials)) return this.#credentials;
    const renewed = await this.#load(refused);
    return isDifferent(renewed) ? renewed : undefined;
  }

  #load(refused: KubeCredentials | undefined): Promise<KubeCredentials> {
    this.#loading ??= this.#loadNow(refused).finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #loadNow(refused: KubeCredentials | undefined): Promise<KubeCredentials> {
    const { config, clock } = this.#options;
    const loaded = await this.#orNetworkError(() =>
      config.credentials({ clock, refused, signal: this.#closing.signal }),
    );
    // New TLS material needs new connections. Requests in progress keep the old ones until they end.
    if (this.#credentials !== undefined && !isDeepStrictEqual(this.#credentials.tls, loaded.tls)) {
      this.#transport?.retire();
      this.#transport = undefined;
    }
    this.#credentials = loaded;
    this.#loadedAtMs = clock.now();
    return loaded;
  }

  async #orNetworkError<T>(load: () => Promise<T>): Promise<T> {
    try {
      return await load();
    } catch (cause) {
      if (cause instanceof BerthError) throw cause;
      const problem = `the kubeconfig's credentials cannot be used: ${errorText(cause)}`;
      throw networkError(problem, { method: 'connect', path: this.server }, cause);
    }
  }

  #transportFor({ tls }: KubeCredentials): KubeTransport {
    if (this.#transport === undefined) {
      const base = this.#base;
      const { config, requestTimeoutMs: headerTimeoutMs } = this.#options;
      const options = { base, tls, proxy: config.proxy(), headerTimeoutMs };
      this.#transport = base.protocol === 'http:' ? new Http1Transport(options) : new TlsTransport(options);
    }
    return this.#transport;
  }
}

const CREDENTIALS_MAX_AGE_MS = 10_000;

function sameCredentials(a: KubeCredentials, b: KubeCredentials): boolean {
  return isDeepStrictEqual([a.tls, a.authorization], [b.tls, b.authorization]);
}

function noOtherCredentials({ method, path }: RequestSubject, error: unknown): TransientError {
  const problem = `the server answered 401, and other credentials could not be obtained: ${errorText(error)}`;
  const hint = error instanceof BerthError ? error.hint : undefined;
  return new TransientError(problem, { code: 'kube.unauthorized', subject: `${method} ${path}`, hint });
}

function requireServer(config: KubeConfig): URL {
  const url = config.serverUrl();
  if (url !== undefined) return url;
  const problem = `context "${config.currentContext ?? ''}" names no server`;
  throw new InputError(problem, { code: 'kubeconfig.unusable', subject: 'kubeconfig' });
}

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
