import http, {
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  ServerResponse,
} from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';

/** A request that came in, the place for its answer, and the bytes after its head if it asks for an upgrade. */
export interface Incoming {
  readonly request: IncomingMessage | Http2ServerRequest;
  readonly response: ServerResponse | Http2ServerResponse;
  readonly upgrade?: Upgrade | undefined;
}

/** The connection of a request that asks for another protocol (SPDY, WebSocket), and what has come after its head. */
export interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** One over HTTP/1.1. */
export type Http1Incoming = Incoming & {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

/** Sends a request with these headers on; `send` opens it, e.g. `https.request`. */
export interface Onward {
  readonly send: (options: RequestOptions) => ClientRequest;
  readonly options: RequestOptions & { readonly headers: OutgoingHttpHeaders };
  /** Added to the answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Serves all requests of a server, also those that ask for an upgrade.
 * @returns a function that closes the server with all its connections, also those that speak another protocol by now
 */
export function onRequests(
  server: http.Server,
  serve: (incoming: Http1Incoming) => void,
): () => Promise<void> {
  const upgraded = new Set<Duplex>();
  server.on('request', (request, response) => serve({ request, response }));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    socket.on('error', () => undefined);
    serve({ request, response: responseOn(socket, request), upgrade: { socket, head } });
  });
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
    await closed;
  };
}

/** The place for an answer that is no upgrade, to a request that asks for one. */
export function responseOn(socket: Duplex, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
  // Nobody reads the connection any more, so its end would not be seen.
  response.once('finish', () => socket.end(() => socket.destroy()));
  return response;
}

/**
 * Sends a request on, and its answer back, both as streams. After an upgrade both connections are copied as bytes.
 * @returns the status of the answer
 * @throws Error if there is no answer
 */
export function forwardRequest(
  { request, response, upgrade }: Incoming,
  { send, options, headers }: Onward,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const framed = hasUnknownLength(request) && { 'transfer-encoding': 'chunked' };
    const outgoing = send({ method: request.method, ...options, headers: { ...options.headers, ...framed } });
    const onGone = (): void => void outgoing.destroy();
    response.once('close', onGone);
    outgoing.on('error', reject);
    outgoing.once('close', () => {
      response.removeListener('close', onGone);
      // What is left of a body that nobody takes would hold up the next request of the connection.
      if (upgrade === undefined) request.unpipe(outgoing).resume();
    });
    outgoing.on('response', (answer) => {
      try {
        sendBack(answer, response, headers);
      } catch (error) {
        // A status or a header that no server may send.
        reject(error instanceof Error ? error : new Error(String(error)));
        outgoing.destroy();
        return;
      }
      // A connection that asked for an upgrade is used for nothing else, nor is one whose server waits for no more of the body.
      answer.once('end', () => (upgrade !== undefined || !outgoing.writableEnded) && outgoing.destroy());
      resolve(answer.statusCode ?? 502);
    });
    outgoing.on('upgrade', (answer, socket: Duplex, head) => {
      resolve(101);
      if (upgrade === undefined) {
        socket.destroy();
        response.destroy();
      } else switchProtocols(answer, { socket, head }, upgrade);
    });
    request.pipe(outgoing);
  });
}

/**
 * Node.js sends such a body of a GET or a DELETE without a frame, so the server would take it for the next request of the connection,
 * with headers that this process would never send.
 */
function hasUnknownLength(request: Incoming['request']): boolean {
  const { headers } = request;
  if (!('stream' in request)) return headers['transfer-encoding'] !== undefined;
  return headers['content-length'] === undefined && !request.stream.endAfterHeaders;
}

/** They belong to one connection (RFC 9110, section 7.6.1), and HTTP/2 has none of them. */
const OF_THE_CONNECTION =
  /^(connection|http2-settings|keep-alive|proxy-connection|te|transfer-encoding|upgrade)$/;

function sendBack(
  from: IncomingMessage,
  to: ServerResponse | Http2ServerResponse,
  headers: Onward['headers'],
): void {
  const kept = Object.entries(from.headersDistinct).filter(([name]) => !OF_THE_CONNECTION.test(name));
  to.writeHead(from.statusCode ?? 502, {
    ...Object.fromEntries(kept.map(([name, values]) => [name, values?.length === 1 ? values[0] : values])),
    ...headers,
  });
  if (to instanceof ServerResponse) {
    // Headers and a small body leave together. But a watch may have no event for long, and its reader waits for the headers.
    to.cork();
    to.flushHeaders();
    setImmediate(() => to.uncork());
  }
  from.pipe(to as NodeJS.WritableStream);
  from.once('error', () => to.destroy());
  // An answer that was cut off must not look as if it had ended.
  from.once('close', () => {
    if (!from.complete) to.destroy();
  });
  to.once('close', () => from.destroy());
}

function switchProtocols(response: IncomingMessage, server: Upgrade, client: Upgrade): void {
  const { rawHeaders } = response;
  const lines = [`HTTP/1.1 101 ${response.statusMessage || http.STATUS_CODES[101]}`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  client.socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (server.head.length > 0) client.socket.write(server.head);
  if (client.head.length > 0) server.socket.write(client.head);
  joinStreams(client.socket, server.socket);
}

/** Copies both ways. The end of one direction is the end of that direction; a failure ends both. */
export function joinStreams(left: Duplex, right: Duplex): void {
  left.pipe(right);
  right.pipe(left);
  for (const [one, other] of [
    [left, right],
    [right, left],
  ] as const) {
    one.on('error', () => other.destroy());
    one.once('close', () => {
      // Nothing more can be copied. What the other has not sent yet, it still sends, unless this was cut off.
      if (!one.readableEnded || !one.writableFinished || other.writableFinished) other.destroy();
      else other.once('finish', () => other.destroy());
    });
  }
}
