import type http from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { BerthError, errorText, InputError, TransientError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import { type ImpersonatedUser, impersonationHeaders } from '../config/impersonation-headers.ts';
import type { KubeConfig, KubeCredentials } from '../config/kube-config.ts';
import { Http1Transport } from './http1-transport.ts';
import { networkError, type RequestSubject } from './kube-errors.ts';
import type { KubeResponse, KubeTransport } from './kube-transport.ts';
import type { ServerOutage } from './server-outage.ts';
import { TlsTransport } from './tls-transport.ts';
import type { WriteFence } from './write-fence.ts';

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
