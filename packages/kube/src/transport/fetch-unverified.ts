import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';
import { errorText, TransientError } from '@berth/runtime/errors';
import { openTunnel } from '../proxy/open-tunnel.ts';
import { portOf, type ProxyAddress, withoutBrackets } from '../proxy/proxy-address.ts';
import { tlsOptions } from '../proxy/tls-material.ts';

export interface UnverifiedRequest {
  readonly server: URL;
  /** Starts with `/`, and is appended to the path of the server's URL. */
  readonly path: string;
  readonly proxy: ProxyAddress | undefined;
  /**
   * PEM: authorities of the proxy, whose certificate is always checked. Absent: Node's defaults.
   */
  readonly proxyCaPem: string | undefined;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
}

export interface UnverifiedResponse {
  /** The certificate chain of the handshake, DER, the server's own first. It is not verified. */
  readonly certificates: readonly Uint8Array[];
  /** The body; undefined if the request failed, or the status is not 200. */
  readonly text: string | undefined;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Sends a request without credentials to a server whose certificate is not verified. The response
 * must not be trusted.
 * @throws TransientError when there is no TLS connection
 */
export async function fetchUnverified(request: UnverifiedRequest): Promise<UnverifiedResponse> {
  const { server, path, signal } = request;
  let socket: TLSSocket | undefined;
  try {
    socket = await connectUnchecked(request);
    const certificates = certificateChain(socket);
    const text = await requestText(
      socket,
      new URL(`${server.pathname.replace(/\/$/, '')}${path}`, server),
      signal,
    ).catch(() => undefined);
    return { certificates, text };
  } catch (error) {
    if (error instanceof TransientError) throw error;
    throw new TransientError(errorText(error), {
      code: 'kube.network',
      subject: server.origin,
      cause: error,
    });
  } finally {
    socket?.destroy();
  }
}

async function connectUnchecked({
  server,
  proxy,
  proxyCaPem,
  signal,
}: UnverifiedRequest): Promise<TLSSocket> {
  const [host, port] = [withoutBrackets(server.hostname), portOf(server)];
  const tls = proxyCaPem === undefined ? {} : { ca: Buffer.from(proxyCaPem) };
  const tunnel = proxy && (await openTunnel({ proxy, host, port, tls, signal }));
  const target = tunnel === undefined ? { host, port } : { host, socket: tunnel };
  const socket = connectTls({ ...tlsOptions(host, { rejectUnauthorized: false }), ...target });
  try {
    await once(socket, 'secureConnect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The last certificate of a chain is its own issuer, or has none. */
function certificateChain(socket: TLSSocket): readonly Uint8Array[] {
  const chain: Uint8Array[] = [];
  let next: (PeerCertificate & { issuerCertificate?: PeerCertificate }) | undefined =
    socket.getPeerCertificate(true);
  const seen = new Set<object>();
  while (next?.raw !== undefined && !seen.has(next)) {
    seen.add(next);
    chain.push(next.raw);
    next = next.issuerCertificate;
  }
  return chain;
}

async function requestText(socket: TLSSocket, url: URL, signal: AbortSignal): Promise<string | undefined> {
  const outgoing = httpsRequest(url, {
    createConnection: () => socket,
    headers: { accept: 'application/json' },
    signal,
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
