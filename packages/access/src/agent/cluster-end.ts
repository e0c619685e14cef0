import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import type { KubeConfig, KubeCredentials } from '@berth/kube/config/kube-config';
import { type TlsMaterial, tlsOptions } from '@berth/kube/proxy/tls-material';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText, InputError } from '@berth/runtime/errors';
import { forwardRequest, type Http1Incoming, onRequests } from '@berth/runtime/http/forward-request';
import type { Logger } from '@berth/runtime/logger';
import { CALLER_HEADER, forwardedHeaders, withoutIdentity } from '../rules/forwarded-headers.ts';
import { answerStatus } from '../server/answer-status.ts';

export interface ClusterEndOptions {
  /** Of the cluster's API server, with the account of the agent, which may impersonate. */
  readonly config: KubeConfig;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The cluster's end of the user server: sends requests that come through the tunnel to the API server. For a user of the hub it uses
 * its own credentials, and impersonates whom the user server named. A token of the cluster goes on alone, without any credentials of
 * this agent. It listens nowhere: only the tunnel reaches it.
 * @throws InputError `access.kubeconfig` if the kubeconfig names no server
 */
export class ClusterEnd {
  readonly #options: ClusterEndOptions;
  readonly #base: URL;
  readonly #server: http.Server;
  readonly #own = new TlsConnections();
  readonly #others = new TlsConnections();

  constructor(options: ClusterEndOptions) {
    this.#options = options;
    const base = options.config.serverUrl();
    if (base === undefined)
      throw new InputError('names no server', {
        code: 'access.kubeconfig',
        subject: 'kubeconfig of the cluster',
      });
    this.#base = base;
    // The user server ends the connections that it keeps.
    const limits = { requestTimeout: 0, keepAliveTimeout: 0, maxHeaderSize: 128 * 1024 };
    this.#server = http.createServer(limits);
    onRequests(this.#server, (incoming) => void this.#serve(incoming));
  }

  /** Serves one connection of the tunnel. */
  serve(channel: Duplex): void {
    this.#server.emit('connection', channel);
  }

  close(): void {
    this.#own.close();
    this.#others.close();
  }

  async #serve(incoming: Http1Incoming): Promise<void> {
    const { request, response } = incoming;
    try {
      const caller = request.headers[CALLER_HEADER];
      const { tls, authorization } = await this.#options.config.credentials({ clock: this.#options.clock });
      await forwardRequest(
        incoming,
        this.#onward(request, caller === 'hub' ? { tls, authorization } : { tls }),
      );
    } catch (error) {
      this.#options.log.warn('the API server cannot be reached', { error: errorText(error) });
      const message = `the API server of the cluster cannot be reached: ${errorText(error)}`;
      answerStatus(response, 502, { reason: 'BadGateway', message });
    }
  }

  /** @param own with `authorization`, even undefined: the agent's credentials are used */
  #onward(
    request: IncomingMessage,
    own: Pick<KubeCredentials, 'tls'> & { readonly authorization?: string | undefined },
  ) {
    const { hostname, port, protocol, pathname, host } = this.#base;
    const isOwn = 'authorization' in own;
    const { cert: _cert, key: _key, ...anonymous } = own.tls;
    const forwarded = forwardedHeaders(request);
    const { authorization } = own;
    const headers = isOwn
      ? { ...impersonationOf(forwarded), ...(authorization !== undefined && { authorization }) }
      : forwarded;
    const name = hostname.replace(/^\[|\]$/g, '');
    const connections = isOwn ? this.#own : this.#others;
    return {
      send: protocol === 'https:' ? https.request : http.request,
      options: {
        ...{ hostname: name, port: port || undefined, headers: { ...headers, host } },
        path: pathname.replace(/\/$/, '') + (request.url ?? '/'),
        ...(protocol === 'https:' && { agent: connections.to(name, isOwn ? own.tls : anonymous) }),
      },
    };
  }
}

/** What the user server sends for a user of the hub has no token; one that is there all the same does not go on. */
function impersonationOf(headers: ReturnType<typeof forwardedHeaders>): ReturnType<typeof forwardedHeaders> {
  const impersonation = Object.entries(headers).filter(([name]) => name.startsWith('impersonate-'));
  return { ...withoutIdentity(headers), ...Object.fromEntries(impersonation) };
}

/** Kept connections with one set of certificates; another set begins others. */
class TlsConnections {
  #agent: https.Agent | undefined;
  #tls: string | undefined;

  to(host: string, tls: TlsMaterial): https.Agent {
    const key = JSON.stringify([tls.ca, tls.cert, tls.rejectUnauthorized, tls.serverName].map(String));
    if (this.#agent !== undefined && this.#tls === key) return this.#agent;
    this.#tls = key;
    this.#agent = new https.Agent({ ...tlsOptions(host, tls), keepAlive: true, scheduling: 'lifo' });
    return this.#agent;
  }

  close(): void {
    this.#agent?.destroy();
  }
}
