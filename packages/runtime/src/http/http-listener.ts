import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { InputError } from '../errors.ts';
import { closeIdleConnections } from './close-idle-connections.ts';
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
const HANDSHAKE_TIMEOUT_MS = 10_000;
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
  const secure =
    options.tls === undefined
      ? undefined
      : https.createServer(
          { ...LIMITS, ...options.tls, handshakeTimeout: HANDSHAKE_TIMEOUT_MS },
          handleSafely,
        );
  const server = secure ?? http.createServer(LIMITS, handleSafely);
  server.setTimeout(IDLE_MS);
  closeIdleConnections(server, MAX_CONNECTIONS);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new InputError(`cannot listen: ${cause.message}`, {
          code: 'http.listen',
          subject: `${options.host}:${options.port}`,
          hint: 'choose another address with --listen',
          cause,
        }),
      ),
    );
    server.listen(options.port, options.host, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  const scheme = secure === undefined ? 'http' : 'https';
  return {
    url: `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    renew: (identity) => secure?.setSecureContext(identity),
    close: async () => {
      server.closeIdleConnections();
      const closed = new Promise((resolve) => server.close(resolve));
      setTimeout(() => server.closeAllConnections(), 2_000).unref();
      await closed;
    },
  };
}
