import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';
import { errorText, TransientError } from '../../../core/errors.ts';
import { openTunnel } from '../proxy/open-tunnel.ts';
import { portOf, type ProxyAddress, withoutBrackets } from '../proxy/proxy-address.ts';
import { tlsOptions } from '../proxy/tls-material.ts';

export interface StrangerQuestion {
  readonly server: URL;
  /** Starts with `/`, and is appended to the path of the server's URL. */
  readonly path: string;
  readonly proxy: ProxyAddress | undefined;
  /** Authorities of the proxy, PEM. The proxy is always verified. Absent: those that Node.js knows. */
  readonly proxyCaPem: string | undefined;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
}

export interface StrangerAnswer {
  /** The certificates of the handshake, DER, starting with that of the server. They are not verified. */
  readonly certificates: readonly Uint8Array[];
  /** The body; undefined if the server does not answer unauthenticated clients, or answers another status than 200. */
  readonly text: string | undefined;
}

const MOST_BYTES = 1024 * 1024;

/**
 * Sends an unauthenticated request to a server that is not verified. It sends nothing secret, and the answer proves
 * nothing.
 * @throws TransientError when there is no TLS connection
 */
export async function askStranger(question: StrangerQuestion): Promise<StrangerAnswer> {
  const { server, path, signal } = question;
  let socket: TLSSocket | undefined;
  try {
    socket = await connectUnchecked(question);
    const certificates = servedBy(socket);
    const text = await ask(
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

async function connectUnchecked({ server, proxy, proxyCaPem, signal }: StrangerQuestion): Promise<TLSSocket> {
  const [host, port] = [withoutBrackets(server.hostname), portOf(server)];
  const tls = proxyCaPem === undefined ? {} : { ca: Buffer.from(proxyCaPem) };
  const tunnel = proxy && (await openTunnel({ proxy, host, port, tls, signal }));
  const whither = tunnel === undefined ? { host, port } : { host, socket: tunnel };
  const socket = connectTls({ ...tlsOptions(host, { rejectUnauthorized: false }), ...whither });
  try {
    await once(socket, 'secureConnect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The last certificate of a chain is its own issuer, or has none. */
function servedBy(socket: TLSSocket): readonly Uint8Array[] {
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

async function ask(socket: TLSSocket, url: URL, signal: AbortSignal): Promise<string | undefined> {
  const outgoing = httpsRequest(url, {
    createConnection: () => socket,
    headers: { accept: 'application/json' },
    signal,
  });
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
