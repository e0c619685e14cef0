import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { joinStreams } from '@berth/runtime/http/forward-request';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import {
  startTunnelAgent,
  type TunnelAgent,
  type TunnelAgentOptions,
} from '@berth/tunnel/agent/tunnel-agent';
import {
  startTunnelServer,
  type TunnelServer,
  type TunnelServerOptions,
} from '@berth/tunnel/server/tunnel-server';
import { onTestFinished } from 'vitest';

const DAY_MS = 86_400_000;
const LOOPBACK = '127.0.0.1';

/** Certificates of one authority, as the tests need them. */
export class TestAuthority {
  readonly pair = createAuthority('tunnel', Date.now());
  readonly #authority = new CertificateAuthority(this.pair);

  async server() {
    const pair = await this.#authority.issueServing([LOOPBACK, 'localhost'], Date.now(), DAY_MS);
    return { ca: this.pair.certPem, cert: pair.certPem, key: pair.keyPem };
  }

  async client(commonName: string, organizations: readonly string[] = [], lifetimeMs = DAY_MS) {
    const pair = await this.#authority.issueClient({ commonName, organizations }, Date.now(), lifetimeMs);
    return { ca: this.pair.certPem, cert: pair.certPem, key: pair.keyPem };
  }
}

/** The cluster in the common name `agent:CLUSTER`. */
export function clusterOf(certificate: X509Certificate): string | undefined {
  return /^CN=agent:(.+)$/m.exec(certificate.subject)?.[1];
}

export const authority = new TestAuthority();

/** A server for agents and dialers, closed at the end of the test. Dialers name `host:port`, the host being the cluster. */
export async function openServer(changes: Partial<TunnelServerOptions> = {}): Promise<TunnelServer> {
  const tls = await authority.server();
  const server = await startTunnelServer({
    agents: { host: LOOPBACK, port: 0, tls, clusterOf },
    dialers: {
      ...{ host: LOOPBACK, port: 0, tls },
      targetOf: (address, dialer) =>
        dialer.subject === 'CN=dialer' ? { cluster: address.split(':')[0] ?? '', address } : undefined,
    },
    ...{ clock, log: new SilentLogger() },
    ...changes,
  });
  onTestFinished(() => server.close());
  return server;
}

export interface OpenedAgent extends TunnelAgent {
  stop(): Promise<void>;
}

/** An agent that connects every address to the port on loopback that the address names. */
export async function openAgent(
  address: string,
  cluster: string,
  changes: Partial<TunnelAgentOptions> = {},
): Promise<OpenedAgent> {
  const stop = new AbortController();
  const tls = await authority.client(`agent:${cluster}`);
  const agent = startTunnelAgent({
    server: { host: LOOPBACK, port: portOf(address) },
    tls: () => tls,
    hosts: [cluster],
    resolve: (target) => ({ host: LOOPBACK, port: portOf(target) }),
    ...{ clock, random: Math.random, log: new SilentLogger(), signal: stop.signal },
    ...changes,
  });
  const end = (): Promise<void> => {
    stop.abort();
    return agent.ended;
  };
  onTestFinished(end);
  return { ...agent, stop: end };
}

export function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

/** A TCP server on loopback, closed at the end of the test. */
export async function openTarget(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return (server.address() as { port: number }).port;
}

/** An address that leads to each of these ports in turn, as a Service does. Closed at the end of the test. */
export async function openBalancer(ports: readonly number[]): Promise<number> {
  let turn = 0;
  return openTarget((socket) => {
    const port = ports[(turn += 1) % ports.length] ?? 0;
    joinStreams(socket, connect({ host: LOOPBACK, port, allowHalfOpen: true }));
  });
}

/** What can be read. The other direction stays open. */
export async function textUntilEnd(stream: Duplex): Promise<string> {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  if (!stream.readableEnded) await once(stream, 'end');
  return Buffer.concat(parts).toString();
}

export const NEVER = new AbortController().signal;
