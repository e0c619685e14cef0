import https from 'node:https';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { impersonationHeaders } from '@berth/kube/config/impersonation-headers';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { TokenUser } from '@berth/kube/review-token';
import { errorText } from '@berth/runtime/errors';
import { forwardRequest, type Http1Incoming, onRequests } from '@berth/runtime/http/forward-request';
import { listenAt } from '@berth/runtime/http/http-listener';
import type { Logger } from '@berth/runtime/logger';
import {
  API_GROUP,
  API_PATH,
  API_RESOURCES,
  type Gateway,
  type GatewayHealth,
  gatewayList,
  gatewayObject,
  gatewayTable,
  GROUP_PATH,
} from '../rules/cluster-gateway.ts';
import { clusterIdentity } from '../rules/cluster-identity.ts';
import { forwardedHeaders, withoutIdentity } from '../rules/forwarded-headers.ts';
import { requestTarget } from '../rules/request-target.ts';
import { answerJson, answerStatus } from '../server/answer-status.ts';
import { refusalOnHub } from './authorize-path.ts';
import { clusterRequest } from './cluster-request.ts';
import { callerOf, type FrontProxy, isOfFrontProxy } from './front-proxy.ts';
import type { Gateways } from './gateways.ts';

const RESOURCE = 'clustergateways';
const PREFIX = `${API_PATH}/${RESOURCE}`;
const LIMITS = { headersTimeout: 10_000, requestTimeout: 0, maxHeaderSize: 64 * 1024 };
const MAX_CONNECTIONS = 4_096;
const MAX_BODY_BYTES = 64 * 1024;

export interface GatewayServerOptions {
  readonly host: string;
  readonly port: number;
  /** PEM. */
  readonly tls: { readonly cert: string; readonly key: string };
  readonly gateways: Pick<
    Gateways,
    'get' | 'list' | 'frontProxy' | 'onFrontProxy' | 'userServer' | 'noteHealth'
  >;
  /** Each request goes to the cluster as the user who sent it, also without `?impersonate=true`. */
  readonly impersonate: boolean;
  /** With it, a request must also be allowed on this hub. */
  readonly authorizeOn?: KubeApi | undefined;
  readonly log: Logger;
}

export interface GatewayServer {
  /** `HOST:PORT` */
  readonly address: string;
  readonly host: string;
  readonly port: number;
  renew(tls: GatewayServerOptions['tls']): void;
  close(): Promise<void>;
}

/**
 * The API server of ClusterGateways. Only the hub's API server gets in, by the certificate with which it forwards requests. It has judged
 * the request before, and says who sent it.
 * @throws InputError if it cannot listen
 */
export async function startGatewayServer(options: GatewayServerOptions): Promise<GatewayServer> {
  const { gateways } = options;
  let { tls } = options;
  const context = () => ({ ...tls, ca: gateways.frontProxy()?.caPem ?? [], minVersion: 'TLSv1.2' as const });
  const server = https.createServer({
    ...{ ...LIMITS, ...context(), requestCert: true, rejectUnauthorized: false },
  });
  server.maxConnections = MAX_CONNECTIONS;
  const agent = new https.Agent({ keepAlive: true, scheduling: 'lifo' });
  const close = onRequests(server, (incoming) => {
    void new GatewayRequest(incoming, options, agent).serve().catch((error: unknown) => {
      answerStatus(incoming.response, 500, { reason: 'InternalError', message: 'internal error' });
      options.log.error('a request failed', { error });
    });
  });
  server.on('tlsClientError', () => undefined);
  let known = gateways.frontProxy()?.caPem;
  gateways.onFrontProxy(() => {
    if (gateways.frontProxy()?.caPem === known) return;
    known = gateways.frontProxy()?.caPem;
    server.setSecureContext(context());
    // Connections with a certificate of the previous authority are opened again.
    server.closeAllConnections();
  });
  const bound = await listenAt(server, options);
  return {
    ...bound,
    renew: (renewed) => {
      tls = renewed;
      server.setSecureContext(context());
    },
    close: async () => {
      await close();
      agent.destroy();
    },
  };
}

const HEALTH_PATHS = ['/healthz', '/livez', '/readyz'];

/** One request, from the hub's word of who sent it to the answer. */
class GatewayRequest {
  readonly #incoming: Http1Incoming;
  readonly #options: GatewayServerOptions;
  readonly #agent: https.Agent;

  constructor(incoming: Http1Incoming, options: GatewayServerOptions, agent: https.Agent) {
    this.#incoming = incoming;
    this.#options = options;
    this.#agent = agent;
  }

  async serve(): Promise<void> {
    const { request, response } = this.#incoming;
    const { url = '' } = request;
    const [path = '', query = ''] = url.split('?');
    if (HEALTH_PATHS.includes(path)) {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
      return;
    }
    const proxy = this.#options.gateways.frontProxy();
    const caller = proxy && callerOf(request, proxy);
    if (proxy === undefined || caller === undefined)
      return this.#refuse(401, 'Unauthorized', 'only the API server of the hub asks here');
    if (path === GROUP_PATH) return answerJson(response, 200, API_GROUP);
    if (path === API_PATH) return answerJson(response, 200, API_RESOURCES);
    if (path === PREFIX) return this.#answerList(new URLSearchParams(query));
    if (!url.startsWith(`${PREFIX}/`)) return this.#refuse(404, 'NotFound', 'there is nothing here');
    const target = requestTarget(url.slice(PREFIX.length));
    if (!target.ok) return this.#refuse(400, 'BadRequest', target.error);
    await this.#serveGateway(target.value.cluster, target.value.path, { caller, proxy });
  }

  /** @param path after the name of the gateway, with query */
  async #serveGateway(
    name: string,
    path: string,
    from: { readonly caller: TokenUser; readonly proxy: FrontProxy },
  ): Promise<void> {
    const [, subresource, rest = ''] = /^\/(proxy|health|)(?=[/?]|$)(.*)$/s.exec(path) ?? [];
    if (subresource === undefined || (subresource !== 'proxy' && /^\//.test(rest)))
      return this.#refuse(404, 'NotFound', 'there is nothing here');
    const found = this.#options.gateways.get(name);
    if (found?.ok === false) return this.#refuse(503, 'ServiceUnavailable', found.error);
    if (subresource === 'proxy') {
      const target = rest.startsWith('/') ? rest : `/${rest}`;
      if (found === undefined) return this.#refuse(404, 'NotFound', `no such cluster ${name}`);
      return this.#proxy(found.value, target, from);
    }
    if (found === undefined)
      return this.#refuse(
        404,
        'NotFound',
        `${RESOURCE}.cluster.core.oam.dev ${JSON.stringify(name)} not found`,
      );
    await this.#answerOne(found.value, subresource === 'health', new URLSearchParams(rest.slice(1)));
  }

  async #proxy(
    gateway: Gateway,
    path: string,
    { caller, proxy }: { readonly caller: TokenUser; readonly proxy: FrontProxy },
  ): Promise<void> {
    const { request } = this.#incoming;
    const { method = 'GET' } = request;
    const [only = '', query = ''] = path.split('?');
    const { gateways, impersonate, authorizeOn, log } = this.#options;
    const isAsCaller = impersonate || new URLSearchParams(query).get('impersonate') === 'true';
    const as = isAsCaller ? clusterIdentity(caller) : undefined;
    let status = 502;
    try {
      const refused = authorizeOn && (await refusalOnHub(authorizeOn, caller, { method, path }));
      if (refused !== undefined) {
        status = 403;
        return this.#refuse(403, 'Forbidden', refused);
      }
      const options = clusterRequest(gateway, path, gateways.userServer());
      const headers: OutgoingHttpHeaders = {
        ...this.#headers(proxy),
        ...impersonationHeaders(as),
        ...options.headers,
      };
      status = await forwardRequest(this.#incoming, {
        send: https.request,
        options: { ...options, headers, agent: this.#agent },
      });
    } catch (error) {
      this.#refuse(502, 'BadGateway', `cluster ${gateway.name} cannot be reached: ${errorText(error)}`);
    } finally {
      const who = { user: caller.username, as: as?.user ?? accountOf(gateway) };
      log.info('request', { cluster: gateway.name, ...who, method, path: only, status });
    }
  }

  /** Nothing in them says who the caller is: neither its credentials, nor what the hub says of it. */
  #headers(proxy: FrontProxy): OutgoingHttpHeaders {
    const all = Object.entries(withoutIdentity(forwardedHeaders(this.#incoming.request)));
    return Object.fromEntries(all.filter(([name]) => !isOfFrontProxy(name, proxy)));
  }

  #answerList(query: URLSearchParams): void {
    const { request, response } = this.#incoming;
    if (!isRead(request) || query.get('watch') === 'true' || query.get('watch') === '1')
      return this.#refuse(405, 'MethodNotAllowed', `${RESOURCE} can be read and listed only`);
    const selector = ['labelSelector', 'fieldSelector'].find((name) => query.get(name));
    if (selector !== undefined) return this.#refuse(400, 'BadRequest', `${selector} is not supported`);
    const gateways = this.#options.gateways.list();
    const table = wantsTable(request) && gatewayTable(gateways, query.get('includeObject'));
    answerJson(response, 200, table || gatewayList(gateways.map(gatewayObject)));
  }

  async #answerOne(gateway: Gateway, isHealth: boolean, query: URLSearchParams): Promise<void> {
    const { request, response } = this.#incoming;
    if (isHealth && request.method === 'PUT') return this.#updateHealth(gateway);
    if (!isRead(request))
      return this.#refuse(405, 'MethodNotAllowed', `${request.method} is not supported here`);
    const table = wantsTable(request) && gatewayTable([gateway], query.get('includeObject'));
    answerJson(response, 200, table || gatewayObject(gateway));
  }

  async #updateHealth(gateway: Gateway): Promise<void> {
    const { gateways } = this.#options;
    const given = await healthIn(this.#incoming.request);
    if (given === undefined)
      return this.#refuse(400, 'BadRequest', 'expected a ClusterGateway with status.healthy, in JSON');
    try {
      await gateways.noteHealth(gateway, given);
      answerJson(this.#incoming.response, 200, gatewayObject({ ...gateway, health: given }));
    } catch (error) {
      this.#refuse(503, 'ServiceUnavailable', `the health cannot be written: ${errorText(error)}`);
    }
  }

  #refuse(code: number, reason: string, message: string): void {
    answerStatus(this.#incoming.response, code, { reason, message });
  }
}

/** Whom the cluster sees. */
function accountOf({ credential }: Gateway): string {
  if (credential.type === 'X509Certificate') return 'of the certificate';
  const [, payload = ''] = credential.token.split('.');
  try {
    const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { sub?: unknown };
    return typeof sub === 'string' ? sub : 'of the token';
  } catch {
    return 'of the token';
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function wantsTable({ headers }: IncomingMessage): boolean {
  return (headers.accept ?? '')
    .split(',')
    .some((one) => ['as=Table', 'v=v1', 'g=meta.k8s.io'].every((part) => one.split(';').includes(part)));
}

/** @returns undefined: it is none */
async function healthIn(request: IncomingMessage): Promise<GatewayHealth | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    parts.push(part);
  }
  try {
    const { status } = JSON.parse(Buffer.concat(parts).toString('utf8')) as {
      readonly status?: { readonly healthy?: unknown; readonly healthyReason?: unknown };
    };
    if (typeof status?.healthy !== 'boolean') return undefined;
    const { healthy, healthyReason } = status;
    return { healthy, ...(typeof healthyReason === 'string' && healthyReason !== '' && { healthyReason }) };
  } catch {
    return undefined;
  }
}
