import { createSecureServer } from 'node:http2';
import type {
  Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { HubRequest, HubResponse } from './transport.ts';

/** Nothing in a Kubernetes request needs more; 16 KiB of URL and headers are refused with 431. */
const HEADER_LIMIT_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 120_000;
const HEADERS_TIMEOUT_MS = 30_000;
/** client-go runs all its watches over one connection. */
const STREAMS_PER_CONNECTION = 1_000;

export interface ServingIdentity {
  readonly certPem: string;
  readonly keyPem: string;
  /** Of the authority that issued it, sent along. */
  readonly caPem: string;
}

/** TLS with HTTP/2 and HTTP/1.1 on one port. Client certificates are asked for, never required. */
export class TlsServer {
  readonly #server: Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(identity: ServingIdentity, onRequest: (request: HubRequest, response: HubResponse) => void) {
    this.#server = createSecureServer({
      ...secureContext(identity),
      allowHTTP1: true,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      maxHeaderListPairs: 128,
      settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION, maxHeaderListSize: HEADER_LIMIT_BYTES },
      maxSessionMemory: 100,
    });
    const limits = this.#server as unknown as Record<string, number>;
    limits['keepAliveTimeout'] = KEEP_ALIVE_MS;
    limits['headersTimeout'] = HEADERS_TIMEOUT_MS;
    // A watch is a request that takes its time.
    limits['requestTimeout'] = 0;
    this.#server.setTimeout(0);
    this.#server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) =>
      onRequest(request, response),
    );
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => session.destroy());
    });
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    this.#server.on('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy());
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

  /** New connections get the new certificate; running ones go on. */
  renew(identity: ServingIdentity): void {
    this.#server.setSecureContext(secureContext(identity));
  }

  get connectionCount(): number {
    return this.#sockets.size;
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

/**
 * TLS trusts no authority of clients: each cluster checks certificates against its own (ClientCertificates). So the server
 * names none when it asks for one, and clients of every cluster send theirs; the names of a thousand would not fit.
 */
function secureContext(identity: ServingIdentity): { cert: string; key: string; ca: string[] } {
  return { cert: `${identity.certPem}${identity.caPem}`, key: identity.keyPem, ca: [] };
}
