import http, { type ClientRequestArgs, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket, connect as connectTls } from 'node:tls';
import { openTunnel, proxyAuthorization } from '../proxy/open-tunnel.ts';
import { type ProxyAddress, hostAndPort, portOf, withoutBrackets } from '../proxy/proxy-address.ts';
import { type TlsMaterial, tlsOptions } from '../proxy/tls-material.ts';
import { startAwakeTimeout } from './awake-timeout.ts';
import {
  endOnAbort,
  headerTimeoutError,
  type KubeResponse,
  type KubeTransport,
  noResponseError,
  type WireRequest,
  type WriteFence,
} from './kube-transport.ts';

export interface TransportOptions {
  /** Ends in `/`. */
  readonly base: URL;
  readonly tls: TlsMaterial;
  readonly proxy: ProxyAddress | undefined;
  /** The limit until the headers of the response arrive, including the connection. */
  readonly headerTimeoutMs: number;
}

/**
 * HTTP/1.1 over kept-alive connections. Each carries one request at a time, so there are as many connections as
 * requests in progress.
 */
export class Http1Transport implements KubeTransport {
  readonly #options: TransportOptions;
  readonly #route: Http1Route;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#route = http1Route(options);
  }

  send(request: WireRequest): Promise<KubeResponse> {
    const { base, headerTimeoutMs } = this.#options;
    const { method, signal, subject, fence } = request;
    const { agent, firstHop, pathPrefix, headers } = this.#route;
    const path = pathPrefix + request.path;
    const options: https.RequestOptions = {
      method,
      headers: { ...request.headers, ...headers },
      path,
      agent,
    };
    if (signal !== undefined) options.signal = signal;
    return new Promise((resolve, reject) => {
      const outgoing = (firstHop.protocol === 'http:' ? http : https).request(firstHop, options);
      const endLimit = startAwakeTimeout(headerTimeoutMs, () =>
        outgoing.destroy(headerTimeoutError(subject, headerTimeoutMs)),
      );
      outgoing.once('response', (message) => {
        endLimit();
        const { statusCode = 0, headers: received } = message;
        resolve({ statusCode, headers: received, body: message, isWhole: () => message.complete });
      });
      outgoing.once('error', (error) => {
        endLimit();
        reject(noResponseError(base.origin, subject, error));
      });
      if (fence === undefined) outgoing.end(request.body);
      else
        outgoing.once('socket', (socket) =>
          whenConnected(socket, () => sendFenced(outgoing, request, fence)),
        );
    });
  }

  /** Sockets in use continue. An agent without requests keeps nothing alive. */
  retire(): void {
    for (const sockets of Object.values(this.#route.agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
  }

  close(): void {
    this.#route.agent.destroy();
  }
}

function sendFenced(outgoing: http.ClientRequest, { body }: WireRequest, fence: WriteFence): void {
  try {
    const abortSignal = fence.enter();
    outgoing.once(
      'close',
      endOnAbort(abortSignal, (reason) => outgoing.destroy(reason)),
    );
    outgoing.end(body);
  } catch (error) {
    outgoing.destroy(error as Error);
  }
}

/** Data that is written to a socket before it is connected stays in its buffer. */
function whenConnected(socket: Socket, next: () => void): void {
  // Not in the types of Node.js: true until the handshake has finished.
  const isHandshaking =
    socket instanceof TLSSocket && (socket as { secureConnecting?: boolean }).secureConnecting;
  if (isHandshaking === true) socket.once('secureConnect', next);
  else if (socket.connecting) socket.once('connect', next);
  else next();
}

/** How HTTP/1.1 requests reach a server: directly, through a tunnel, or through an HTTP proxy. */
interface Http1Route {
  readonly agent: http.Agent;
  /** The first hop: the server, or a proxy that reads the requests. */
  readonly firstHop: URL;
  /** Prefix of the path of each request: the origin of the server, if a proxy reads the requests. Otherwise empty. */
  readonly pathPrefix: string;
  /** Headers for the proxy, sent with each request. */
  readonly headers: OutgoingHttpHeaders;
}

interface RouteOptions {
  readonly base: URL;
  readonly tls: TlsMaterial;
  readonly proxy: ProxyAddress | undefined;
  /** The limit until a proxy has connected to the server. */
  readonly headerTimeoutMs: number;
}

const SETTINGS = { keepAlive: true, scheduling: 'lifo' as const };

/**
 * An HTTP proxy reads plain `http` requests and forwards them. All other requests use a tunnel. Source: net/http of Go
 * (Transport).
 */
function http1Route(options: RouteOptions): Http1Route {
  const { base, tls, proxy } = options;
  if (proxy !== undefined && proxy.scheme !== 'socks5' && base.protocol === 'http:')
    return forwardProxyRoute(base, proxy, tls);
  const direct = { firstHop: base, pathPrefix: '', headers: {} };
  if (proxy !== undefined) return { ...direct, agent: tunnelAgent(options, proxy) };
  if (base.protocol === 'http:') return { ...direct, agent: new http.Agent(SETTINGS) };
  const secure = tlsOptions(withoutBrackets(base.hostname), tls);
  return { ...direct, agent: new https.Agent({ ...secure, ...SETTINGS }) };
}

function forwardProxyRoute(base: URL, proxy: ProxyAddress, tls: TlsMaterial): Http1Route {
  return {
    agent:
      proxy.scheme === 'http'
        ? new http.Agent(SETTINGS)
        : new https.Agent({ ...tlsOptions(proxy.host, tls), ...SETTINGS }),
    firstHop: new URL(`${proxy.scheme}://${hostAndPort(proxy.host, proxy.port)}`),
    pathPrefix: base.origin,
    headers: { host: base.host, ...proxyAuthorization(proxy) },
  };
}

/** An agent whose connections go through the proxy. They are kept alive and reused as by the agent of Node.js. */
function tunnelAgent({ base, tls, headerTimeoutMs }: RouteOptions, proxy: ProxyAddress): http.Agent {
  const isSecure = base.protocol === 'https:';
  const agent = isSecure ? new https.Agent(SETTINGS) : new http.Agent(SETTINGS);
  const host = withoutBrackets(base.hostname);
  const closing = new AbortController();
  const open = async (): Promise<Socket> => {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(headerTimeoutMs)]);
    const socket = await openTunnel({ proxy, host, port: portOf(base), tls, signal });
    return isSecure ? connectTls({ ...tlsOptions(host, tls), host, socket }) : socket;
  };
  const destroy = agent.destroy.bind(agent);
  return Object.assign(agent, {
    createConnection(
      _options: ClientRequestArgs,
      done: (error: Error | null, socket?: unknown) => void,
    ): void {
      open().then(
        (socket) => done(null, socket),
        (error: unknown) => done(error as Error),
      );
    },
    destroy(): void {
      closing.abort(new Error('the client was closed'));
      destroy();
    },
  });
}
