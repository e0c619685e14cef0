import { once } from 'node:events';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { errorText, InputError } from '../errors.ts';
import type { TlsIdentity } from './tls-pair.ts';

/** The limit for waiting connections, and again the same number for requests in progress. */
const MAX_CONNECTIONS = 512;
const LIMITS = {
  headersTimeout: 10_000,
  /** From the first byte of the headers to the last byte of the body. */
  requestTimeout: 30_000,
  /** How late the two timeouts above may be noticed. */
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 60_000,
  maxHeaderSize: 16 * 1024,
} as const;
const SECURE_LIMITS = { ...LIMITS, handshakeTimeout: 10_000 };
/** Timeout of a client that does not read its response. */
const IDLE_MS = 120_000;

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: TlsIdentity | undefined;
}

export interface HttpListener {
  /** The bound address: `http://HOST:PORT` or `https://HOST:PORT`. */
  readonly url: string;
  /** Uses this certificate for new connections; open ones continue. */
  renew(identity: TlsIdentity): void;
  close(): Promise<void>;
}

/** Serves HTTP/1.1, with limits against slow clients and endless requests. If a handler fails, the response is 500. */
export async function listenHttp(
  options: ListenOptions,
  handle: (request: http.IncomingMessage, response: http.ServerResponse) => Promise<void>,
): Promise<HttpListener> {
  const handleSafely = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    handle(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"message":"internal error"}');
    });
  };
  const secure = options.tls && https.createServer({ ...SECURE_LIMITS, ...options.tls }, handleSafely);
  const server = secure ?? http.createServer(LIMITS, handleSafely);
  server.setTimeout(IDLE_MS);
  closeIdleConnections(server, MAX_CONNECTIONS);
  const { address } = await listenAt(server, options);
  const scheme = secure === undefined ? 'http' : 'https';
  return {
    url: `${scheme}://${address}`,
    renew: (identity) => secure?.setSecureContext(identity),
    close: async () => {
      server.closeIdleConnections();
      const closed = new Promise((resolve) => server.close(resolve));
      setTimeout(() => server.closeAllConnections(), 2_000).unref();
      await closed;
    },
  };
}

/**
 * @returns the address that the server is bound to: `HOST:PORT`, and its parts
 * @throws InputError with this hint if it cannot listen
 */
export async function listenAt(
  server: NetServer,
  { host, port }: Pick<ListenOptions, 'host' | 'port'>,
  hint = 'choose another address with --listen',
): Promise<{ readonly address: string; readonly host: string; readonly port: number }> {
  // Of a connection that could not be accepted. Its client tries again.
  server.on('error', () => undefined);
  server.listen(port, host);
  await once(server, 'listening').catch((cause: unknown) => {
    const about = { code: 'http.listen', subject: `${host}:${port}`, hint, cause };
    throw new InputError(`cannot listen: ${errorText(cause)}`, about);
  });
  const { address, port: bound, family } = server.address() as AddressInfo;
  const name = family === 'IPv6' ? `[${address}]` : address;
  return { address: `${name}:${bound}`, host: address, port: bound };
}

/**
 * When there are too many connections, closes the oldest one without a running request. So idle
 * connections, or ones that send their headers slowly, cannot lock out others.
 */
function closeIdleConnections(server: Server, maxConnections: number): void {
  /** Oldest first, by address: under TLS, a request and its connection have different socket objects. */
  const waiting = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const key = addressOf(socket);
    if (waiting.size >= maxConnections) closeOldest(waiting);
    waiting.set(key, socket);
    socket.once('close', () => waiting.delete(key));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const key = addressOf(request.socket);
    const socket = waiting.get(key);
    waiting.delete(key);
    response.once('close', () => {
      if (socket !== undefined && !socket.destroyed) waiting.set(key, socket);
    });
  });
  // Running requests are counted here; connections beyond the limit are closed immediately.
  server.maxConnections = 2 * maxConnections;
}

function closeOldest(waiting: Map<string, Socket>): void {
  const [oldest] = waiting;
  if (oldest === undefined) return;
  waiting.delete(oldest[0]);
  oldest[1].destroy();
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`;
}
