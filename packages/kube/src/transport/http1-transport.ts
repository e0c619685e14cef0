import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { startAwakeTimeout } from './awake-timeout.ts';
import {
  endOnAbort,
  headerTimeoutError,
  type KubeResponse,
  type KubeTransport,
  noResponseError,
  type WireRequest,
} from './kube-transport.ts';
import type { ProxyAddress } from '../proxy/proxy-address.ts';
import type { TlsMaterial } from '../proxy/tls-material.ts';
import { type Http1Route, http1Route } from './http1-route.ts';
import type { WriteFence } from './write-fence.ts';

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
