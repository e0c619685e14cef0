import { createSecureServer } from 'node:http2';
import type {
  Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  ServerHttp2Session,
} from 'node:http2';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Incoming, responseOn } from '@berth/runtime/http/forward-request';
import type { ServingIdentity } from '../auth/certificates/serving-certificate.ts';
import { type ConnectionLimitOptions, ConnectionLimits } from '../flow/connection-limits.ts';
import type { SecondTicks } from '../flow/second-ticks.ts';
import { HubConnection } from './hub-connection.ts';
import type { HubRequest } from '../wire/api-response.ts';

/**
 * Limit of URL and headers; Node's default of 16 KiB would refuse valid Kubernetes requests with
 * 431.
 */
const HEADER_LIMIT_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 120_000;
/**
 * Time limit of HTTP/1.1 headers after the first request of a connection; HubConnection limits the
 * first.
 */
const HEADERS_TIMEOUT_MS = 10_000;
const HEADERS_CHECK_MS = 1_000;
/** A fallback: HubConnection ends handshakes earlier. */
const HANDSHAKE_TIMEOUT_MS = 15_000;
/** client-go runs all its watches over one connection. */
const STREAMS_PER_CONNECTION = 1_000;

export type RequestListener = (incoming: Incoming, connection: HubConnection) => void;

export interface TlsServerOptions {
  readonly identity: ServingIdentity;
  readonly connections: ConnectionLimitOptions;
  readonly ticks: SecondTicks;
  readonly onRequest: RequestListener;
}

/** TLS with HTTP/2 and HTTP/1.1 on one port. Client certificates are asked for, never required. */
export class TlsServer {
  readonly #server: Http2SecureServer;
  readonly #ticks: SecondTicks;
  readonly #limits: ConnectionLimits;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  /**
   * By address and port of the client, the only properties that a TLS socket shares with its TCP
   * socket.
   */
  readonly #accepted = new Map<string, HubConnection>();
  /** By the TLS socket (HTTP/1.1) or the session (HTTP/2) of a request. */
  readonly #connections = new WeakMap<object, HubConnection>();

  constructor({ identity, connections, ticks, onRequest }: TlsServerOptions) {
    this.#ticks = ticks;
    this.#limits = new ConnectionLimits(connections);
    this.#server = createSecureServer({
      ...secureContext(identity),
      allowHTTP1: true,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxHeaderListPairs: 128,
      settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION, maxHeaderListSize: HEADER_LIMIT_BYTES },
      maxSessionMemory: 100,
    });
    const limits = this.#server as unknown as Record<string, number>;
    limits['keepAliveTimeout'] = KEEP_ALIVE_MS;
    limits['headersTimeout'] = HEADERS_TIMEOUT_MS;
    limits['connectionsCheckingInterval'] = HEADERS_CHECK_MS;
    // Watches are long requests.
    limits['requestTimeout'] = 0;
    this.#server.setTimeout(0);
    this.#server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
      const connection = this.#connectionOf(request);
      // Its connection is closed already.
      if (connection === undefined) response.destroy();
      else onRequest({ request, response }, connection);
    });
    // Of HTTP/1.1 connections.
    const events: EventEmitter = this.#server;
    events.on('upgrade', (request: IncomingMessage, socket: TLSSocket, head: Buffer) => {
      const connection = this.#connections.get(socket);
      if (connection === undefined) socket.destroy();
      else
        onRequest({ request, response: responseOn(socket, request), upgrade: { socket, head } }, connection);
    });
    this.#server.on('connection', (socket: Socket) => this.#accept(socket));
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => setImmediate(() => session.destroy()));
      this.#secured(session.socket as TLSSocket, session);
    });
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
      if (socket.alpnProtocol !== 'h2') this.#secured(socket);
    });
    this.#server.on('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy());
  }

  #accept(socket: Socket): void {
    const connection = new HubConnection(socket, this.#limits, this.#ticks);
    if (!connection.open()) return void socket.destroy();
    const key = peerOf(socket);
    this.#accepted.set(key, connection);
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#accepted.delete(key);
      this.#sockets.delete(socket);
    });
  }

  #secured(socket: TLSSocket, session?: ServerHttp2Session): void {
    const connection = this.#accepted.get(peerOf(socket));
    if (connection === undefined) return void (session ?? socket).destroy();
    connection.secured(session);
    this.#connections.set(session ?? socket, connection);
  }

  #connectionOf(request: Http2ServerRequest): HubConnection | undefined {
    const owner = 'stream' in request ? request.stream.session : (request as HubRequest).socket;
    return owner === undefined ? undefined : this.#connections.get(owner);
  }

  /** Resolves with the port; `port` 0 takes a free one. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port, backlog: 1024 }, () => {
        this.#server.removeListener('error', reject);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Uses the new certificate for new connections; open ones continue. */
  renew(identity: ServingIdentity): void {
    this.#server.setSecureContext(secureContext(identity));
  }

  get connections(): Pick<ConnectionLimits, 'count' | 'unidentified' | 'refused'> {
    return this.#limits;
  }

  /** Ends all streams and connections. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const session of this.#sessions) session.destroy();
      for (const socket of this.#sockets) socket.destroy();
    });
  }
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress ?? ''} ${String(socket.remotePort)}`;
}

/**
 * TLS verifies no client certificate: each cluster checks them with its own authority
 * (ClientCertificates). The server requests a certificate without naming authorities, so clients of
 * every cluster send theirs; the names of a thousand authorities would not fit.
 */
function secureContext(identity: ServingIdentity): { cert: string; key: string; ca: string[] } {
  return { cert: `${identity.certPem}${identity.caPem}`, key: identity.keyPem, ca: [] };
}
