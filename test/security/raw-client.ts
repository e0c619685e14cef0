import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { connect as connectHttp2 } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';

/** A connection on which a test sends whatever bytes it likes. */
export interface RawConnection {
  readonly socket: TLSSocket;
  /** All that the hub has answered. */
  text(): string;
  closed(): boolean;
}

/** The bearer token of a user who may do nothing but what every user may. */
export async function tokenOf(hub: TestHub, user: string, groups: readonly string[] = []): Promise<string> {
  const request = { dataDir: hub.dataDir, user, groups, cluster: '', server: hub.hub.url };
  return /token: (\S+)/.exec(await issueKubeconfig(request, Date.now()))?.[1] ?? '';
}

/** HTTP/1.1 over TLS, byte by byte. */
export async function connectRaw(hub: TestHub): Promise<RawConnection> {
  const socket = connectTls({
    host: '127.0.0.1',
    port: hub.hub.port,
    ca: hub.hub.caPem,
    servername: 'localhost',
    ALPNProtocols: ['http/1.1'],
  });
  const state = { text: '', closed: false };
  socket.on('data', (chunk: Buffer) => (state.text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.on('close', () => (state.closed = true));
  await new Promise<void>((resolve) => {
    socket.once('secureConnect', resolve);
    socket.once('close', resolve);
  });
  return { socket, text: () => state.text, closed: () => state.closed };
}

export interface RawStream {
  readonly stream: ClientHttp2Stream;
  status(): number | undefined;
  text(): string;
  closed(): boolean;
}

export async function connectSession(hub: TestHub, settings = {}): Promise<ClientHttp2Session> {
  const session = connectHttp2(hub.hub.url, { ca: hub.hub.caPem, settings });
  session.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    session.once('connect', () => resolve());
    session.once('close', () => resolve());
  });
  return session;
}

/** One HTTP/2 request whose body is left open unless `end` is given. */
export function openStream(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  options: { readonly end?: boolean; readonly unread?: boolean } = {},
): RawStream {
  const stream = session.request(headers, { endStream: options.end === true });
  const state: { status: number | undefined; text: string; closed: boolean } = {
    status: undefined,
    text: '',
    closed: false,
  };
  stream.on('response', (answer) => (state.status = answer[':status']));
  if (options.unread !== true) stream.on('data', (chunk: Buffer) => (state.text += chunk.toString()));
  stream.on('error', () => undefined);
  stream.on('close', () => (state.closed = true));
  return { stream, status: () => state.status, text: () => state.text, closed: () => state.closed };
}

/** The value of a metric, with its labels as the text writes them. */
export async function metricOf(hub: TestHub, name: string): Promise<number> {
  const { text } = await hub.call('GET', '/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? Number.NaN);
}
