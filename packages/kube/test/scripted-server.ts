import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { HttpKubeApi, type HttpKubeApiOptions } from '../src/http-kube-api.ts';
import { loadKubeConfig } from '../src/config/load-kube-config.ts';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { createAuthority } from '../src/x509/self-signed-authority.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (request: SeenRequest, response: http.ServerResponse) => void;

export type Protocol = 'http' | 'https' | 'h2';

export interface Scripted {
  readonly api: HttpKubeApi;
  readonly seen: SeenRequest[];
  /** Connections open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** Of HTTP/2 only. */
  readonly sessions: ReadonlySet<http2.Http2Session>;
  /** Connections ever made. */
  connections: number;
  close: () => Promise<void>;
}

export interface ScriptedOptions extends Partial<HttpKubeApiOptions> {
  readonly protocol?: Protocol;
  readonly streamsPerConnection?: number;
  /**
   * Puts something between client and server.
   * @returns the port to talk to
   */
  readonly through?: (port: number) => Promise<number>;
}

/** A server that answers as a test says, and a real client of it. */
export async function startScripted(answer: Answer, options: ScriptedOptions = {}): Promise<Scripted> {
  const { protocol = 'http', streamsPerConnection = 100, through, ...client } = options;
  const seen: SeenRequest[] = [];
  const server = await serverFor(protocol, streamsPerConnection, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    let isCutOff = false;
    // Over HTTP/2 Node tells the end of a request that was cut off as well.
    request.on('aborted', () => (isCutOff = true));
    request.on('end', () => {
      if (isCutOff) return;
      const { method = '', url = '', headers } = request;
      const entry = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      seen.push(entry);
      answer(entry, response);
    });
  });
  const sockets = new Set<Socket>();
  const sessions = new Set<http2.Http2Session>();
  server.on('connection', (socket: Socket) => {
    scripted.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('session', (session: http2.Http2Session) => {
    sessions.add(session);
    session.on('error', () => undefined);
    session.on('close', () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = (server.address() as AddressInfo).port;
  const port = through === undefined ? own : await through(own);
  const scheme = protocol === 'http' ? 'http' : 'https';
  const config = loadKubeConfig({ text: kubeconfigText(`${scheme}://127.0.0.1:${port}/prefix`) });
  const api = new HttpKubeApi({ config, clock: systemClock, requestTimeoutMs: PATIENCE_MS, ...client });
  const close = async (): Promise<void> => {
    api.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const scripted: Scripted = { api, seen, sockets, sessions, connections: 0, close };
  return scripted;
}

async function serverFor(
  protocol: Protocol,
  maxConcurrentStreams: number,
  onRequest: http.RequestListener,
): Promise<Server> {
  if (protocol === 'http') return http.createServer(onRequest);
  const { certPem: cert, keyPem: key } = createAuthority('localhost', Date.now());
  if (protocol === 'https') return https.createServer({ cert, key }, onRequest);
  // Node's compatibility layer: the same calls for both protocols.
  const listener = onRequest as unknown as (
    request: http2.Http2ServerRequest,
    response: http2.Http2ServerResponse,
  ) => void;
  return http2.createSecureServer({ cert, key, settings: { maxConcurrentStreams } }, (request, response) => {
    response.stream.on('error', () => undefined);
    listener(request, response);
  });
}

export function kubeconfigText(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token: 'secret-token' } }],
  });
}

export function sendJson(
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
