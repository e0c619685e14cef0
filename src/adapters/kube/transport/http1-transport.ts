import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterAwakeTime } from './after-awake-time.ts';
import {
  endOnAbort,
  headerTimeoutError,
  type KubeResponse,
  type KubeTransport,
  noAnswerError,
  type WireRequest,
} from './kube-transport.ts';
import type { WriteFence } from './write-fence.ts';

export interface Http1Options {
  /** Ends in `/`. */
  readonly base: URL;
  readonly tls: https.AgentOptions;
  /** `user:password` for basic authentication. */
  readonly auth: string | undefined;
  /** Goes through a proxy; not ours to close. */
  readonly proxied: http.Agent | undefined;
  /** Until the response's headers are there, connecting included. */
  readonly headerTimeoutMs: number;
}

/** HTTP/1.1 over kept-alive connections: one request at a time on each, so as many connections as requests under way. */
export class Http1Transport implements KubeTransport {
  readonly #options: Http1Options;
  readonly #agent: http.Agent;

  constructor(options: Http1Options) {
    this.#options = options;
    const settings = { keepAlive: true, scheduling: 'lifo' as const };
    this.#agent =
      options.proxied ??
      (options.base.protocol === 'http:'
        ? new http.Agent(settings)
        : new https.Agent({ ...options.tls, ...settings }));
  }

  send(request: WireRequest): Promise<KubeResponse> {
    const { base, auth, headerTimeoutMs } = this.#options;
    const { method, path, headers, signal, subject, fence } = request;
    const options: https.RequestOptions = { method, headers, path, agent: this.#agent };
    if (auth !== undefined) options.auth = auth;
    if (signal !== undefined) options.signal = signal;
    return new Promise((resolve, reject) => {
      const outgoing = (base.protocol === 'http:' ? http : https).request(base, options);
      const endLimit = afterAwakeTime(headerTimeoutMs, () =>
        outgoing.destroy(headerTimeoutError(subject, headerTimeoutMs)),
      );
      outgoing.once('response', (message) => {
        endLimit();
        const { statusCode = 0, headers: received } = message;
        resolve({ statusCode, headers: received, body: message, isWhole: () => message.complete });
      });
      outgoing.once('error', (error) => {
        endLimit();
        reject(noAnswerError(base.origin, subject, error));
      });
      if (fence === undefined) outgoing.end(request.body);
      else
        outgoing.once('socket', (socket) =>
          whenConnected(socket, () => sendFenced(outgoing, request, fence)),
        );
    });
  }

  /** Sockets in use go on; an agent without requests keeps nothing alive. */
  retire(): void {
    for (const sockets of Object.values(this.#agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
  }

  close(): void {
    this.#agent.destroy();
  }
}

function sendFenced(outgoing: http.ClientRequest, { body }: WireRequest, fence: WriteFence): void {
  try {
    const mayGoOn = fence.enter();
    outgoing.once(
      'close',
      endOnAbort(mayGoOn, (reason) => outgoing.destroy(reason)),
    );
    outgoing.end(body);
  } catch (error) {
    outgoing.destroy(error as Error);
  }
}

/** What is written to a socket before it is connected waits in it. */
function whenConnected(socket: Socket, next: () => void): void {
  // Not in Node's types: true until the handshake is over.
  const isShaking =
    socket instanceof TLSSocket && (socket as { secureConnecting?: boolean }).secureConnecting;
  if (isShaking === true) socket.once('secureConnect', next);
  else if (socket.connecting) socket.once('connect', next);
  else next();
}
