import type http from 'node:http';
import type https from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { errorText } from '../../../core/errors.ts';
import type { Clock } from '../../../core/ports.ts';
import { Http1Transport } from './http1-transport.ts';
import type { KubeConfig } from '../config/kube-config.ts';
import { networkError, type RequestSubject } from './kube-errors.ts';
import type { KubeResponse, KubeTransport } from './kube-transport.ts';
import type { ServerOutage } from './server-outage.ts';
import { TlsTransport } from './tls-transport.ts';
import type { WriteFence } from './write-fence.ts';

export interface KubeRequest extends RequestSubject {
  readonly query?: string | undefined;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  /** Default `application/json`. */
  readonly accept?: string | undefined;
  /** Aborts the request and its response. */
  readonly signal?: AbortSignal | undefined;
  /** The answer has no end of its own. */
  readonly isStream?: boolean | undefined;
  /** Of a write: asked each time that it is sent. */
  readonly fence?: WriteFence | undefined;
}

export interface ConnectionOptions {
  readonly config: KubeConfig;
  readonly clock: Clock;
  /** Until the response's headers are there. */
  readonly requestTimeoutMs: number;
  /** Servers take the part before the first `/` as field manager of writes that name none. */
  readonly userAgent: string;
  readonly impersonate: ImpersonatedUser | undefined;
  /** Told of each request whether it was answered. */
  readonly outage?: Pick<ServerOutage, 'answered' | 'failed'> | undefined;
}

export interface ImpersonatedUser {
  readonly user: string;
  readonly groups: readonly string[];
}

interface Credentials {
  readonly tls: https.AgentOptions;
  /** Of every request; lower-case names. */
  readonly headers: http.OutgoingHttpHeaders;
  readonly auth: string | undefined;
  readonly proxied: http.Agent | undefined;
}

/**
 * Requests to the kubeconfig's current cluster over kept-alive connections, with the kubeconfig's TLS material and credentials.
 */
export class KubeConnection {
  readonly server: string;
  readonly #base: URL;
  readonly #options: ConnectionOptions;
  #transport: KubeTransport | undefined;
  #credentials: Credentials | undefined;
  #loading: Promise<Credentials> | undefined;
  #loadedAtMs = 0;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.server = options.config.getCurrentCluster()?.server ?? '';
    this.#base = new URL(this.server.endsWith('/') ? this.server : `${this.server}/`);
  }

  /** Resolves when the headers arrived; the caller consumes the body. A refused credential is read again and tried once more. */
  async open(request: KubeRequest): Promise<KubeResponse> {
    const response = await this.#send(request, await this.#currentCredentials(false));
    if (response.statusCode !== 401) return response;
    const before = this.#credentials;
    const renewed = await this.#currentCredentials(true);
    if (before !== undefined && sameCredentials(before, renewed)) return response;
    response.body.resume();
    return this.#send(request, renewed);
  }

  /** Requests under way fail now, and so does every later one. */
  close(): void {
    this.#closed = true;
    this.#transport?.close();
    this.#transport = undefined;
  }

  async #send(request: KubeRequest, credentials: Credentials): Promise<KubeResponse> {
    if (this.#closed) throw networkError('the client was closed', request);
    const { method, path, query, body, accept } = request;
    const whole = this.#base.pathname + path.replace(/^\//, '') + (query === undefined ? '' : `?${query}`);
    // Without a length Node sends DELETE bodies chunked, which some servers and proxies drop.
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
        path: whole,
        headers: { ...credentials.headers, ...bodyHeaders, ...(accept !== undefined && { accept }) },
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

  /** Rotated files and tokens are picked up within CREDENTIALS_MAX_AGE_MS. */
  async #currentCredentials(fresh: boolean): Promise<Credentials> {
    const age = Math.abs(this.#options.clock.now() - this.#loadedAtMs);
    if (!fresh && this.#credentials !== undefined && age < CREDENTIALS_MAX_AGE_MS) return this.#credentials;
    this.#loading ??= this.#loadCredentials().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #loadCredentials(): Promise<Credentials> {
    let options: https.RequestOptions;
    try {
      options = await this.#options.config.credentials();
    } catch (cause) {
      throw networkError(
        `the kubeconfig's credentials cannot be used: ${errorText(cause)}`,
        { method: 'connect', path: this.server },
        cause,
      );
    }
    const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
    const tls = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername };
    const proxied = this.#options.config.getCurrentCluster()?.proxyUrl
      ? (options.agent as http.Agent)
      : undefined;
    const loaded: Credentials = {
      tls: Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
      headers: {
        accept: 'application/json',
        'user-agent': this.#options.userAgent,
        ...lowerCaseNames(options.headers ?? {}),
        ...impersonation(this.#options.impersonate),
      },
      auth: options.auth ?? undefined,
      proxied,
    };
    // New TLS material needs new connections; requests under way keep the old ones until they end.
    if (this.#credentials !== undefined && !isDeepStrictEqual(this.#credentials.tls, loaded.tls)) {
      this.#transport?.retire();
      this.#transport = undefined;
    }
    this.#credentials = loaded;
    this.#loadedAtMs = this.#options.clock.now();
    return loaded;
  }

  #transportFor({ tls, auth, proxied }: Credentials): KubeTransport {
    if (this.#transport === undefined) {
      const base = this.#base;
      const options = { base, tls, auth, proxied, headerTimeoutMs: this.#options.requestTimeoutMs };
      this.#transport =
        base.protocol === 'http:' || proxied !== undefined
          ? new Http1Transport(options)
          : new TlsTransport(options);
    }
    return this.#transport;
  }
}

const CREDENTIALS_MAX_AGE_MS = 10_000;

function sameCredentials(a: Credentials, b: Credentials): boolean {
  return isDeepStrictEqual([a.tls, a.headers, a.auth], [b.tls, b.headers, b.auth]);
}

function lowerCaseNames(headers: object): http.OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers as http.OutgoingHttpHeaders).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function impersonation(user: ImpersonatedUser | undefined): http.OutgoingHttpHeaders {
  return user === undefined ? {} : { 'impersonate-user': user.user, 'impersonate-group': [...user.groups] };
}
