import http from 'node:http';
import https from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import type { KubeConfig } from '@kubernetes/client-node';
import { errorText, TransientError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';
import { networkError, type RequestSubject } from './kube-errors.ts';

export interface KubeRequest extends RequestSubject {
  readonly query?: string | undefined;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  /** Aborts the request and its response. */
  readonly signal?: AbortSignal | undefined;
}

export interface ConnectionOptions {
  readonly config: KubeConfig;
  readonly clock: Clock;
  /** Until the response's headers are there. */
  readonly requestTimeoutMs: number;
  readonly maxSockets: number;
  /** Servers take the part before the first `/` as field manager of writes that name none. */
  readonly userAgent: string;
  readonly impersonate: ImpersonatedUser | undefined;
}

export interface ImpersonatedUser {
  readonly user: string;
  readonly groups: readonly string[];
}

interface Credentials {
  readonly tls: https.AgentOptions;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: string | undefined;
  readonly proxied: http.Agent | undefined;
}

/**
 * Requests to the kubeconfig's current cluster over kept-alive connections. client-node works out TLS material and credentials
 * (files, tokens, exec plugins, impersonation, proxies); it would make a new agent, hence a new TLS session, per request.
 */
export class KubeConnection {
  readonly server: string;
  readonly #base: URL;
  readonly #options: ConnectionOptions;
  #agent: http.Agent | undefined;
  #credentials: Credentials | undefined;
  #loading: Promise<Credentials> | undefined;
  #loadedAtMs = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.server = options.config.getCurrentCluster()?.server ?? '';
    this.#base = new URL(this.server.endsWith('/') ? this.server : `${this.server}/`);
  }

  /** Resolves when the headers arrived; the caller consumes the body. A refused credential is read anew and tried once more. */
  async open(request: KubeRequest): Promise<http.IncomingMessage> {
    const response = await this.#send(request, await this.#currentCredentials(false));
    if (response.statusCode !== 401) return response;
    const before = this.#credentials;
    const renewed = await this.#currentCredentials(true);
    if (before !== undefined && sameCredentials(before, renewed)) return response;
    response.resume();
    return this.#send(request, renewed);
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #send(request: KubeRequest, credentials: Credentials): Promise<http.IncomingMessage> {
    const url = new URL(request.path.replace(/^\//, ''), this.#base);
    if (request.query !== undefined) url.search = request.query;
    const headers: http.OutgoingHttpHeaders = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
      ...credentials.headers,
    };
    if (this.#options.impersonate !== undefined) {
      headers['impersonate-user'] = this.#options.impersonate.user;
      headers['impersonate-group'] = [...this.#options.impersonate.groups];
    }
    // Without a length Node sends DELETE bodies chunked, which some servers and proxies drop.
    if (request.body !== undefined) {
      headers['content-type'] = request.contentType ?? 'application/json';
      headers['content-length'] = Buffer.byteLength(request.body);
    }
    const options: https.RequestOptions = {
      method: request.method,
      headers,
      agent: this.#agentFor(credentials),
    };
    if (credentials.auth !== undefined) options.auth = credentials.auth;
    if (request.signal !== undefined) options.signal = request.signal;
    return new Promise((resolve, reject) => {
      const outgoing = (url.protocol === 'http:' ? http : https).request(url, options);
      const timer = setTimeout(
        () => outgoing.destroy(timeoutError(request, this.#options.requestTimeoutMs)),
        this.#options.requestTimeoutMs,
      );
      outgoing.once('response', (response) => {
        clearTimeout(timer);
        resolve(response);
      });
      outgoing.once('error', (error) => {
        clearTimeout(timer);
        reject(
          error instanceof TransientError
            ? error
            : networkError(`no answer from ${this.server}: ${errorText(error)}`, request, error),
        );
      });
      outgoing.end(request.body);
    });
  }

  /** Rotated files and tokens are picked up within CREDENTIALS_MAX_AGE_MS. */
  async #currentCredentials(fresh: boolean): Promise<Credentials> {
    const age = Math.abs(this.#options.clock.now() - this.#loadedAtMs);
    if (!fresh && this.#credentials !== undefined && age < CREDENTIALS_MAX_AGE_MS) return this.#credentials;
    this.#loading ??= this.#loadCredentials().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #loadCredentials(): Promise<Credentials> {
    const options: https.RequestOptions = { headers: {} };
    try {
      await this.#options.config.applyToHTTPSOptions(options);
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
      headers: options.headers as Record<string, string>,
      auth: options.auth ?? undefined,
      proxied,
    };
    // New TLS material needs a new agent; requests under way keep the old one until they end.
    if (this.#credentials !== undefined && !isDeepStrictEqual(this.#credentials.tls, loaded.tls))
      this.#agent = undefined;
    this.#credentials = loaded;
    this.#loadedAtMs = this.#options.clock.now();
    return loaded;
  }

  #agentFor(credentials: Credentials): http.Agent {
    if (this.#agent !== undefined) return this.#agent;
    if (credentials.proxied !== undefined) {
      this.#agent = credentials.proxied;
    } else {
      const settings = { keepAlive: true, maxSockets: this.#options.maxSockets, scheduling: 'lifo' as const };
      this.#agent =
        this.#base.protocol === 'http:'
          ? new http.Agent(settings)
          : new https.Agent({ ...credentials.tls, ...settings });
    }
    return this.#agent;
  }
}

const CREDENTIALS_MAX_AGE_MS = 10_000;

function sameCredentials(a: Credentials, b: Credentials): boolean {
  return isDeepStrictEqual([a.tls, a.headers, a.auth], [b.tls, b.headers, b.auth]);
}

function timeoutError(request: RequestSubject, afterMs: number): TransientError {
  return new TransientError(`no answer within ${afterMs} ms`, {
    code: 'kube.timeout',
    subject: `${request.method} ${request.path}`,
  });
}
