import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { errorText, TransientError } from '@berth/runtime/errors';
import { describeProxy, hostAndPort, type ProxyAddress, basicAuthorization } from './proxy-address.ts';
import { type TlsMaterial, tlsOptions } from './tls-material.ts';

export interface TunnelOptions {
  readonly proxy: ProxyAddress;
  /** The proxy resolves names. */
  readonly host: string;
  readonly port: number;
  /** For a proxy that is reached over TLS. It is verified like the server behind it. */
  readonly tls: TlsMaterial;
  /** Aborts the attempt. The reason becomes the error. */
  readonly signal: AbortSignal;
}

/** The library requires a timeout. The signal limits the attempt instead. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * A connection to a server through a proxy: CONNECT of HTTP/1.1, or SOCKS5 (RFC 1928, with the password of RFC 1929).
 * @throws TransientError `kube.proxy` that names the proxy, or the reason of the signal
 */
export async function openTunnel(options: TunnelOptions): Promise<Socket> {
  const { proxy, tls, signal } = options;
  signal.throwIfAborted();
  const socket = connectTcp({ host: proxy.host, port: proxy.port });
  socket.setNoDelay(true);
  const end = (): void => void socket.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    await once(socket, 'connect');
    const secured = proxy.scheme === 'https' ? await secureProxy(socket, proxy, tls) : socket;
    if (proxy.scheme !== 'socks5') return await connectOverHttp(secured, options);
    await connectOverSocks(secured, options);
    return secured;
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    // Without a cause, because the error of the library contains the password.
    throw new TransientError(errorText(error), {
      code: 'kube.proxy',
      subject: `proxy ${describeProxy(proxy)}`,
    });
  } finally {
    signal.removeEventListener('abort', end);
  }
}

async function secureProxy(socket: Socket, { host }: ProxyAddress, tls: TlsMaterial): Promise<TLSSocket> {
  const secured = connectTls({ ...tlsOptions(host, tls), host, socket });
  await once(secured, 'secureConnect');
  return secured;
}

async function connectOverHttp(socket: Socket, { proxy, host, port }: TunnelOptions): Promise<Socket> {
  const target = hostAndPort(host, port);
  const outgoing: ClientRequest = httpRequest({
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...proxyAuthorization(proxy) },
    createConnection: () => socket,
  });
  outgoing.end();
  const [response, , head] = (await once(outgoing, 'connect')) as [IncomingMessage, Socket, Buffer];
  if (response.statusCode !== 200)
    throw new Error(`answered ${response.statusCode} ${response.statusMessage} to CONNECT ${target}`);
  if (head.length > 0) socket.unshift(head);
  return socket;
}

async function connectOverSocks(socket: Socket, { proxy, host, port }: TunnelOptions): Promise<void> {
  // Loaded only here, because it would delay every start.
  const { SocksClient } = await import('socks');
  await SocksClient.createConnection({
    command: 'connect',
    destination: { host, port },
    existing_socket: socket,
    timeout: NO_LIMIT_MS,
    proxy: {
      host: proxy.host,
      port: proxy.port,
      type: 5,
      ...(proxy.login && { userId: proxy.login.username, password: proxy.login.password }),
    },
  });
}

/** The header with the credentials for a proxy. */
export function proxyAuthorization({ login }: ProxyAddress): { readonly 'proxy-authorization'?: string } {
  if (login === undefined) return {};
  return { 'proxy-authorization': basicAuthorization(login.username, login.password) };
}
