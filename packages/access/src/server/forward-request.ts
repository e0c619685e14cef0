import http, {
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { join } from '@berth/tunnel/link/tunnel-link';

/** A request that came in, and the place for its answer: a response, or the connection if it asks for an upgrade. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly answer: ServerResponse | { readonly socket: Duplex; readonly head: Buffer };
}

/** Sends a request with these headers on; `send` opens it, e.g. `https.request`. */
export interface Onward {
  readonly send: (options: RequestOptions) => ClientRequest;
  readonly options: RequestOptions;
  /** Added to the answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Sends a request on, and its answer back, both as streams. After an upgrade (SPDY, WebSocket) both connections are copied as
 * bytes.
 * @returns the status of the answer
 * @throws Error if there is no answer
 */
export function forwardRequest(
  { request, answer }: Incoming,
  { send, options, headers }: Onward,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = send({ method: request.method, ...options });
    const client = answer instanceof ServerResponse ? request.socket : answer.socket;
    const onGone = (): void => void outgoing.destroy();
    client.once('close', onGone);
    outgoing.on('error', reject);
    outgoing.once('close', () => client.removeListener('close', onGone));
    outgoing.on('response', (response) => {
      const status = response.statusCode ?? 502;
      sendBack(response, responseFor(request, answer), headers);
      // A connection that asked for an upgrade is used for nothing else.
      if (!(answer instanceof ServerResponse)) response.once('end', () => outgoing.destroy());
      resolve(status);
    });
    outgoing.on('upgrade', (response, socket: Duplex, head) => {
      resolve(101);
      if (answer instanceof ServerResponse) {
        socket.destroy();
        answer.destroy();
      } else switchProtocols(response, { socket, head }, answer);
    });
    request.pipe(outgoing);
  });
}

/** The place for an answer that is no upgrade. */
export function responseFor(request: IncomingMessage, answer: Incoming['answer']): ServerResponse {
  if (answer instanceof ServerResponse) return answer;
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(answer.socket as Parameters<ServerResponse['assignSocket']>[0]);
  // Nobody reads the connection any more, so its end would not be seen.
  response.once('finish', () => answer.socket.end(() => answer.socket.destroy()));
  return response;
}

function sendBack(from: IncomingMessage, to: ServerResponse, headers: Onward['headers']): void {
  const kept = Object.entries(from.headersDistinct).filter(
    ([name]) => !['connection', 'keep-alive', 'transfer-encoding'].includes(name),
  );
  to.writeHead(from.statusCode ?? 502, {
    ...Object.fromEntries(kept.map(([name, values]) => [name, values?.length === 1 ? values[0] : values])),
    ...headers,
  });
  // A watch may have no event for long, and its reader waits for the headers.
  to.flushHeaders();
  from.pipe(to);
  from.once('error', () => to.destroy());
  // An answer that was cut off must not look as if it had ended.
  from.once('close', () => {
    if (!from.complete) to.destroy();
  });
  to.once('close', () => from.destroy());
}

function switchProtocols(
  response: IncomingMessage,
  server: { readonly socket: Duplex; readonly head: Buffer },
  client: { readonly socket: Duplex; readonly head: Buffer },
): void {
  const { rawHeaders } = response;
  const lines = [`HTTP/1.1 101 ${response.statusMessage || http.STATUS_CODES[101]}`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  client.socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (server.head.length > 0) client.socket.write(server.head);
  if (client.head.length > 0) server.socket.write(client.head);
  join(client.socket, server.socket);
}

/** An answer in Kubernetes' form, so that kubectl prints the message. */
export function answerStatus(response: ServerResponse, code: number, { reason, message }: StatusText): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(status)}\n`);
}

export interface StatusText {
  readonly reason: string;
  readonly message: string;
}
