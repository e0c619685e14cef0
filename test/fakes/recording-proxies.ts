import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { PemPair } from '@berth/kube/x509/self-signed-authority';

/** What a proxy was asked for. */
export interface SeenByProxy {
  readonly proxy: 'http' | 'https' | 'socks5';
  /** `CONNECT host:port`, or method and URL of a request that the proxy passes on, without its query. */
  readonly asked: string;
  /** `name:password`; absent: none was given. */
  readonly login?: string;
}

export interface RecordingProxies {
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly socksPort: number;
  /** What was asked for since the last call. */
  taken(): SeenByProxy[];
  close(): Promise<void>;
}

/** The password that lets nobody through. */
export const REFUSED_PASSWORD = 's3cret-refused';

/**
 * An HTTP proxy, one that is reached over TLS, and a SOCKS5 proxy, on the loopback address. Each leads every name to this machine, and
 * refuses any client that gives `REFUSED_PASSWORD`.
 */
export async function startRecordingProxies(pair: PemPair): Promise<RecordingProxies> {
  let seen: SeenByProxy[] = [];
  const sockets = new Set<Duplex>();
  const note = (entry: SeenByProxy): void => void seen.push(entry);
  const plain = http.createServer();
  const secure = https.createServer({ cert: pair.certPem, key: pair.keyPem });
  serveHttp(plain, 'http', note);
  serveHttp(secure, 'https', note);
  const socks = net.createServer((socket) => void serveSocks(socket, note).catch(() => socket.destroy()));
  const servers: readonly Server[] = [plain, secure, socks];
  for (const server of servers) {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const [httpPort = 0, httpsPort = 0, socksPort = 0] = servers.map(
    (server) => (server.address() as AddressInfo).port,
  );
  return {
    httpPort,
    httpsPort,
    socksPort,
    taken() {
      const taken = seen;
      seen = [];
      return taken;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serveHttp(server: http.Server, proxy: 'http' | 'https', note: (seen: SeenByProxy) => void): void {
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    client.on('error', () => undefined);
    const login = loginOf(request);
    note({ proxy, asked: `CONNECT ${request.url}`, ...(login !== undefined && { login }) });
    if (login?.endsWith(REFUSED_PASSWORD) === true) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(request.url ?? '') ?? [];
    join(client, hereInsteadOf(host), Number(port), () =>
      client.write('HTTP/1.1 200 Connection established\r\n\r\n'),
    );
  });
  server.on('request', (request, response) => {
    const login = loginOf(request);
    note({
      proxy,
      asked: `${request.method} ${request.url?.split('?')[0]}`,
      ...(login !== undefined && { login }),
    });
    const target = new URL(request.url ?? '');
    target.hostname = hereInsteadOf(target.hostname);
    const passedOn = http.request(target, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passedOn.on('error', () => response.destroy());
    request.pipe(passedOn);
  });
}

function loginOf({ headers }: IncomingMessage): string | undefined {
  const [, encoded] = /^Basic (.*)$/.exec(headers['proxy-authorization'] ?? '') ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}

/** RFC 1928 and RFC 1929, as far as a client that connects needs them. */
async function serveSocks(socket: Socket, note: (seen: SeenByProxy) => void): Promise<void> {
  const [, methods = 0] = await read(socket, 2);
  const wantsLogin = (await read(socket, methods)).includes(2);
  socket.write(Buffer.from([5, wantsLogin ? 2 : 0]));
  let login: string | undefined;
  if (wantsLogin) {
    await read(socket, 1);
    const name = await readText(socket);
    const password = await readText(socket);
    login = `${name}:${password}`;
    socket.write(Buffer.from([1, password === REFUSED_PASSWORD ? 1 : 0]));
    if (password === REFUSED_PASSWORD) {
      note({ proxy: 'socks5', asked: 'login', login });
      socket.end();
      return;
    }
  }
  const [, , , type = 0] = await read(socket, 4);
  const host = await readHost(socket, type);
  const port = (await read(socket, 2)).readUInt16BE();
  const kind = { 1: 'IPv4', 3: 'name', 4: 'IPv6' }[type];
  note({ proxy: 'socks5', asked: `CONNECT ${kind} ${host}:${port}`, ...(login !== undefined && { login }) });
  join(socket, hereInsteadOf(host), port, () => socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0])));
}

async function readHost(socket: Socket, type: number): Promise<string> {
  if (type === 3) return readText(socket);
  const bytes = await read(socket, type === 1 ? 4 : 16);
  if (type === 1) return [...bytes].join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname;
}

async function readText(socket: Socket): Promise<string> {
  const [length = 0] = await read(socket, 1);
  return (await read(socket, length)).toString('utf8');
}

async function read(socket: Socket, size: number): Promise<Buffer> {
  for (;;) {
    const chunk = size === 0 ? Buffer.alloc(0) : (socket.read(size) as Buffer | null);
    if (chunk !== null) return chunk;
    await once(socket, 'readable');
  }
}

function hereInsteadOf(host: string): string {
  return host.startsWith('[') ? '::1' : '127.0.0.1';
}

function join(client: Duplex, host: string, port: number, onOpen: () => void): void {
  const upstream = net.connect({ host, port }, () => {
    onOpen();
    client.pipe(upstream).pipe(client);
  });
  const end = (): void => {
    upstream.destroy();
    client.destroy();
  };
  upstream.on('error', end);
  upstream.on('close', end);
  client.on('error', end);
  client.on('close', end);
}
