import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { PemPair } from '@berth/kube/x509/self-signed-authority';

/** A request, as far as it says who asks. */
export interface SeenByServer {
  /** Method and path. */
  readonly asked: string;
  /** Authorization and Impersonate-*, with lower-case names, each with its values. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Common name of the client's certificate. */
  readonly certificate?: string;
  /** Name that the client gave in the TLS handshake. */
  readonly serverName?: string;
}

export interface RecordingApiServer {
  readonly port: number;
  readonly port6: number;
  /** Without TLS. */
  readonly httpPort: number;
  /** What was asked since the last call. */
  taken(): SeenByServer[];
  /** Whom the server answers 401: values of the Authorization header, and common names of certificates. */
  refuses(who: readonly string[]): void;
  /** Says this to all who asked for `/watch`, whose answers do not end. */
  tellWatchers(text: string): void;
  close(): Promise<void>;
}

const VERSION = { major: '1', minor: '33', gitVersion: 'v1.33.0' };

/**
 * A server on the loopback addresses that answers every request with a version of Kubernetes, and tells who asked. It asks for a client certificate,
 * whose issuer it does not check, and speaks HTTP/2 and HTTP/1.1.
 */
export async function startRecordingApiServer(pair: PemPair): Promise<RecordingApiServer> {
  let seen: SeenByServer[] = [];
  let refused: readonly string[] = [];
  const watchers = new Set<ServerResponse>();
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const one = describe(request);
    seen.push(one);
    const isRefused = [...(one.headers['authorization'] ?? []), one.certificate ?? ''].some((who) =>
      refused.includes(who),
    );
    const code = isRefused ? 401 : 200;
    response.writeHead(code, { 'content-type': 'application/json' });
    if (one.asked === 'GET /watch') {
      watchers.add(response);
      response.write('\n');
      return;
    }
    const answer = isRefused ? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code } : VERSION;
    response.end(JSON.stringify(answer));
  };
  const secure = (): Server =>
    http2.createSecureServer(
      {
        cert: pair.certPem,
        key: pair.keyPem,
        allowHTTP1: true,
        requestCert: true,
        rejectUnauthorized: false,
      },
      onRequest as unknown as (
        request: http2.Http2ServerRequest,
        response: http2.Http2ServerResponse,
      ) => void,
    );
  const servers = [secure(), secure(), http.createServer(onRequest)];
  const sockets = new Set<Socket>();
  for (const [at, server] of servers.entries()) {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    });
    server.listen(0, at === 1 ? '::1' : '127.0.0.1');
    await once(server, 'listening');
  }
  const [port = 0, port6 = 0, httpPort = 0] = servers.map((server) => (server.address() as AddressInfo).port);
  return {
    port,
    port6,
    httpPort,
    taken() {
      const taken = seen;
      seen = [];
      return taken;
    },
    refuses(who) {
      refused = who;
    },
    tellWatchers(text) {
      for (const watcher of watchers) watcher.write(text);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) await new Promise((resolve) => server.close(resolve));
    },
  };
}

function describe(request: IncomingMessage): SeenByServer {
  const headers: Record<string, string[]> = {};
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = (request.rawHeaders[at] ?? '').toLowerCase();
    if (name === 'authorization' || name.startsWith('impersonate-'))
      (headers[name] ??= []).push(request.rawHeaders[at + 1] ?? '');
  }
  const socket = request.socket as TLSSocket;
  const subject = socket.encrypted ? socket.getPeerCertificate()?.subject : undefined;
  return {
    asked: `${request.method} ${request.url?.split('?')[0]}`,
    headers: Object.fromEntries(Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))),
    ...(subject?.CN !== undefined && { certificate: String(subject.CN) }),
    ...(socket.encrypted && socket.servername && { serverName: socket.servername }),
  };
}
