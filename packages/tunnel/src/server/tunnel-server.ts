import { randomUUID } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import http2, { type Http2SecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Clock } from '@berth/runtime/clock/clock';
import { listenAt } from '@berth/runtime/http/http-listener';
import type { Logger } from '@berth/runtime/logger';
import type { Channel } from '../link/channel.ts';
import { keepAlive } from '../link/keep-alive.ts';
import { TunnelLink } from '../link/tunnel-link.ts';
import {
  AGENT_CALL,
  answerCall,
  BERTH_HEADER,
  CONNECTION_WINDOW_BYTES,
  GRPC_STATUS,
  HTTP2_SETTINGS,
  type ListenAt,
  peerCertificate,
  refuseCall,
  type TlsMaterial,
} from '../wire/grpc-call.ts';
import { AgentRegistry, type ConnectedAgent, type TunnelState } from './agent-registry.ts';
import { type DialTarget, serveDialers } from './serve-dialers.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How long connections may go on after `close`. */
const DRAIN_MS = 10_000;
/** Agents and programs that dial have a flag each. */
const HINT = 'choose another address';

export interface TunnelServerOptions {
  readonly agents: ListenAt & {
    readonly tls: TlsMaterial;
    /** The one cluster that an agent with this certificate serves; undefined: it is no agent's. */
    readonly clusterOf: (certificate: X509Certificate) => string | undefined;
  };
  /** For dialers outside of this process: gRPC and HTTP CONNECT on one port. Absent: `dial` is the only way in. */
  readonly dialers?: ListenAt & {
    readonly tls: TlsMaterial;
    /** The cluster and the address in it that are meant by `host:port`; undefined: this dialer may not have it. */
    readonly targetOf: (address: string, dialer: X509Certificate) => DialTarget | undefined;
  };
  /** How many of these servers are behind the agents' address, each with agents of its own. Default: 1. */
  readonly servers?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface TunnelServer {
  /** `host:port` for agents. */
  readonly agentAddress: string;
  /** `host:port` for dialers; empty without them. */
  readonly dialerAddress: string;
  /**
   * @throws TransientError at once if the cluster has no agent; with the agent's reason if it cannot connect
   */
  dial(target: DialTarget, signal: AbortSignal): Promise<Channel>;
  stateOf(cluster: string): TunnelState;
  clusters(): readonly string[];
  /** For new connections, e.g. after a rotation. Those that are there go on. */
  renew(tls: TlsMaterial): void;
  close(): Promise<void>;
}

/**
 * The hub's end of the tunnel. Agents of clusters dial in; each serves the cluster that its certificate names, whatever it says in
 * its headers. So a connection to a cluster reaches an agent of that cluster and no other.
 * @throws InputError if it cannot listen
 */
export async function startTunnelServer(options: TunnelServerOptions): Promise<TunnelServer> {
  const registry = new AgentRegistry(options.clock);
  const dial: TunnelServer['dial'] = async ({ cluster, address }, signal) => {
    for (;;) {
      const { link } = registry.agentOf(cluster);
      try {
        return await link.dial(address, signal);
      } catch (error) {
        // An agent that ends before it has connected, as after a renewal, has carried nothing: the next one is asked.
        if (!link.isEnding) throw error;
      }
    }
  };
  const agents = secureServer(options.agents.tls);
  const serverId = randomUUID();
  agents.on('stream', (stream, headers) => {
    if (headers[':path'] === AGENT_CALL) acceptAgent({ stream, headers, serverId }, options, registry);
    else refuseCall(stream, GRPC_STATUS.unimplemented, 'agents call /AgentService/Connect');
  });
  const { address: agentAddress } = await listenAt(agents, options.agents, HINT);
  const { dialers } = options;
  const proxies = dialers && secureServer(dialers.tls, true);
  let dialerAddress = '';
  if (proxies !== undefined) {
    serveDialers(proxies, { targetOf: dialers?.targetOf ?? (() => undefined), dial, log: options.log });
    ({ address: dialerAddress } = await listenAt(proxies, dialers as ListenAt, HINT));
  }
  return {
    ...{ agentAddress, dialerAddress },
    dial,
    stateOf: (cluster) => registry.stateOf(cluster),
    clusters: () => registry.clusters(),
    renew: (tls) => agents.setSecureContext({ ...tls, minVersion: 'TLSv1.2' }),
    close: async () => {
      const closed = [agents, proxies].map(
        (server) => new Promise((done) => (server ? server.close(done) : done(0))),
      );
      const waitUntilMs = options.clock.now() + DRAIN_MS;
      while (registry.all().some(({ link }) => link.connections > 0) && options.clock.now() < waitUntilMs)
        await new Promise<void>((done) => options.clock.schedule(50, done));
      for (const { link } of registry.all()) link.close();
      while (registry.all().length > 0) await new Promise<void>((done) => options.clock.schedule(20, done));
      for (const server of [agents, proxies]) endSessions(server);
      await Promise.all(closed);
    },
  };
}

interface AgentCall {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly serverId: string;
}

function acceptAgent(
  { stream, headers, serverId }: AgentCall,
  options: TunnelServerOptions,
  registry: AgentRegistry,
): void {
  const { clock, log } = options;
  const certificate = peerCertificate(stream);
  const cluster = certificate && options.agents.clusterOf(certificate);
  if (certificate === undefined || cluster === undefined) {
    log.warn('an agent was refused, because its certificate names no cluster', {
      subject: certificate?.subject,
    });
    refuseCall(stream, GRPC_STATUS.permissionDenied, 'the certificate names no cluster');
    return;
  }
  const hasWindows = headers[BERTH_HEADER] !== undefined;
  const onClosed = (): void => {
    stopPings();
    cancelExpiry();
    registry.remove(cluster, agent);
    log.info('an agent has gone', { cluster });
  };
  const link = new TunnelLink({ stream, hasWindows, onClosed });
  const agent: ConnectedAgent = { link, sinceMs: clock.now(), roundTripMs: undefined };
  const stopPings = keepAlive(stream, clock, (roundTripMs) => {
    agent.roundTripMs = roundTripMs;
  });
  // A connection is not worth more than the certificate that opened it.
  const cancelExpiry = expireAt(Date.parse(certificate.validTo), clock, () => link.close());
  answerCall(stream, { serverid: serverId, servercount: String(options.servers ?? 1), [BERTH_HEADER]: '1' });
  registry.add(cluster, agent);
  log.info('an agent has connected', { cluster, knowsWindows: hasWindows });
}

/** The longest time that a timer of Node.js waits for. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls back at that time, also when it is farther away than a timer can wait. The returned function cancels. */
function expireAt(atMs: number, clock: Clock, expire: () => void): () => void {
  let cancel: () => void = () => undefined;
  const wait = (): void => {
    const leftMs = atMs - clock.now();
    if (leftMs <= 0) expire();
    else cancel = clock.schedule(Math.min(leftMs, LONGEST_TIMER_MS), wait);
  };
  wait();
  return () => cancel();
}

const sessionsOf = new WeakMap<Http2SecureServer, Set<http2.ServerHttp2Session>>();

function secureServer(tls: TlsMaterial, allowHTTP1 = false): Http2SecureServer {
  const server = http2.createSecureServer({
    ...HTTP2_SETTINGS,
    ...tls,
    allowHTTP1,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  });
  const sessions = new Set<http2.ServerHttp2Session>();
  sessionsOf.set(server, sessions);
  server.on('session', (session) => {
    sessions.add(session);
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
  });
  server.on('tlsClientError', () => undefined);
  server.on('sessionError', () => undefined);
  return server;
}

function endSessions(server: Http2SecureServer | undefined): void {
  if (server === undefined) return;
  for (const session of sessionsOf.get(server) ?? []) session.destroy();
}
