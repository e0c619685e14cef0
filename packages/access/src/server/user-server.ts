import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { impersonationHeaders } from '@berth/kube/config/impersonation-headers';
import type { Clock } from '@berth/runtime/clock/clock';
import { BerthError, errorText } from '@berth/runtime/errors';
import { forwardRequest, type Http1Incoming, onRequests } from '@berth/runtime/http/forward-request';
import { listenAt } from '@berth/runtime/http/http-listener';
import type { Logger } from '@berth/runtime/logger';
import type { TunnelServer } from '@berth/tunnel/server/tunnel-server';
import { clusterIdentity } from '../rules/cluster-identity.ts';
import {
  CALLER_HEADER,
  forwardedHeaders,
  isImpersonation,
  withoutIdentity,
} from '../rules/forwarded-headers.ts';
import { isExposed, type ServiceTarget, serviceTarget } from '../rules/exposed-services.ts';
import { requestTarget } from '../rules/request-target.ts';
import { answerStatus, type StatusText } from './answer-status.ts';
import type { Callers, ExposedServices, ServedClusters } from './ask-hub.ts';
import { API_ADDRESS, KeptConnections } from './kept-connections.ts';

const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 0,
  keepAliveTimeout: 60_000,
  maxHeaderSize: 64 * 1024,
};
const MAX_CONNECTIONS = 4_096;

export interface UserServerOptions {
  readonly host: string;
  readonly port: number;
  /** PEM. */
  readonly tls: { readonly cert: string; readonly key: string };
  readonly tunnel: Pick<TunnelServer, 'dial' | 'stateOf'>;
  readonly callers: Pick<Callers, 'identify'>;
  readonly clusters: Pick<ServedClusters, 'problemWith'>;
  readonly services: Pick<ExposedServices, 'list'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface UserServer {
  /** `https://HOST:PORT` */
  readonly url: string;
  renew(tls: UserServerOptions['tls']): void;
  close(): Promise<void>;
}

/**
 * The door for people: `https://HOST/CLUSTER/api/...` is the API of that cluster. A token is needed. One of the hub's makes its user
 * known to the cluster, whose RBAC decides; it does not leave the hub. Any other token goes to the cluster, which alone knows it.
 * @throws InputError if it cannot listen
 */
export async function startUserServer(options: UserServerOptions): Promise<UserServer> {
  const server = https.createServer({ ...LIMITS, ...options.tls, minVersion: 'TLSv1.2' });
  server.maxConnections = MAX_CONNECTIONS;
  const agent = new KeptConnections(options.tunnel.dial, options.clock);
  const close = onRequests(server, (incoming) => {
    void serveRequest(incoming, options, agent).catch((error: unknown) => {
      answerStatus(incoming.response, 500, { reason: 'InternalError', message: 'internal error' });
      options.log.error('a request failed', { error });
    });
  });
  server.on('tlsClientError', () => undefined);
  const { address } = await listenAt(server, options);
  return {
    url: `https://${address}`,
    renew: (tls) => server.setSecureContext({ ...tls, minVersion: 'TLSv1.2' }),
    close: async () => {
      await close();
      agent.destroy();
    },
  };
}

async function serveRequest(
  incoming: Http1Incoming,
  options: UserServerOptions,
  agent: http.Agent,
): Promise<void> {
  const { request, response } = incoming;
  const refuse = (code: number, text: StatusText): void => answerStatus(response, code, text);
  if (request.url === '/healthz') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
    return;
  }
  const target = requestTarget(request.url ?? '');
  if (!target.ok) return refuse(400, { reason: 'BadRequest', message: target.error });
  const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined)
    return refuse(401, {
      reason: 'Unauthorized',
      message: 'a bearer token of the hub or of the cluster is needed',
    });
  const { cluster } = target.value;
  const service = serviceTarget(target.value.path);
  if (service?.ok === false) return refuse(400, { reason: 'BadRequest', message: service.error });
  const path = service?.value.path ?? target.value.path;
  const admitted = await admit({ request, cluster, token, service: service?.value }, options);
  if ('refused' in admitted) return refuse(admitted.refused, admitted.text);
  const { headers, who } = admitted;
  const started = options.tunnel.stateOf(cluster);
  let status = 503;
  try {
    status = await forwardRequest(incoming, {
      send: http.request,
      options: { agent, host: cluster, path, headers: { ...headers, host: API_ADDRESS } },
      headers: tunnelHeaders(started),
    });
  } catch (error) {
    const isMissing = error instanceof BerthError && error.code === 'tunnel.no-agent';
    status = isMissing ? 503 : 502;
    refuse(status, { reason: isMissing ? 'ServiceUnavailable' : 'BadGateway', message: errorText(error) });
  } finally {
    const [onlyPath] = path.split('?');
    options.log.info('request', { cluster, ...who, method: request.method, path: onlyPath, status });
  }
}

type Admitted =
  | { readonly headers: OutgoingHttpHeaders; readonly who: Readonly<Record<string, string>> }
  | { readonly refused: number; readonly text: StatusText };

interface Asked {
  readonly request: IncomingMessage;
  readonly cluster: string;
  readonly token: string;
  readonly service: ServiceTarget | undefined;
}

/** Who is asking, and as whom the cluster sees it. */
async function admit(
  { request, cluster, token, service }: Asked,
  { callers, clusters, services, log }: UserServerOptions,
): Promise<Admitted> {
  try {
    const [user, problem] = await Promise.all([callers.identify(token), clusters.problemWith(cluster)]);
    if (problem !== undefined)
      // Whether a cluster exists is for users of the hub only.
      return user === undefined
        ? { refused: 401, text: { reason: 'Unauthorized', message: 'the token is unknown' } }
        : { refused: 404, text: { reason: 'NotFound', message: problem } };
    if (service !== undefined && !isExposed(service, await services.list())) {
      const message = `service ${service.namespace}/${service.service} is not in the exposed services allowlist`;
      return { refused: 403, text: { reason: 'Forbidden', message } };
    }
    const headers = forwardedHeaders(request);
    if (user === undefined)
      return { headers: { ...headers, [CALLER_HEADER]: 'cluster' }, who: { user: 'of the cluster' } };
    if (Object.keys(request.headers).some(isImpersonation)) {
      const message = 'a user of the hub cannot impersonate others in a cluster';
      return { refused: 403, text: { reason: 'Forbidden', message } };
    }
    const as = clusterIdentity(user);
    return {
      headers: { ...withoutIdentity(headers), ...impersonationHeaders(as), [CALLER_HEADER]: 'hub' },
      who: { user: user.username, as: as.user },
    };
  } catch (error) {
    log.warn('the hub cannot be asked about a request', { error: errorText(error) });
    return { refused: 503, text: { reason: 'ServiceUnavailable', message: 'the hub does not answer' } };
  }
}

function tunnelHeaders({
  sinceMs,
  roundTripMs,
}: ReturnType<TunnelServer['stateOf']>): Record<string, string> {
  return {
    ...(sinceMs !== undefined && { 'berth-tunnel-since': new Date(sinceMs).toISOString() }),
    ...(roundTripMs !== undefined && { 'berth-tunnel-round-trip-ms': roundTripMs.toFixed(1) }),
  };
}
