import { randomUUID } from 'node:crypto';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText, TransientError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { Backoff } from '@berth/runtime/loop/backoff';
import { onAbort, sleep, WakeUp } from '@berth/runtime/loop/sleep';
import { keepAlive } from '../link/keep-alive.ts';
import { type DialedTarget, TunnelLink } from '../link/tunnel-link.ts';
import {
  AGENT_CALL,
  BERTH_HEADER,
  CONNECTION_WINDOW_BYTES,
  HTTP2_SETTINGS,
  type ListenAt,
  type TlsMaterial,
} from '../wire/grpc-call.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const DIAL_TIMEOUT_MS = 20_000;
const DRAIN_MS = 10_000;
const RETRY = { initialMs: 500, maxMs: 30_000 } as const;
/** One of several servers is missing, and the address led to another one: by chance, so the next dial may reach it. */
const MISSED = { initialMs: 500, maxMs: 5_000 } as const;

export interface TunnelAgentOptions {
  readonly server: ListenAt & {
    /** Whose certificate is expected; default: `host`. */
    readonly servername?: string | undefined;
  };
  /** Read before each connection. */
  readonly tls: () => TlsMaterial;
  /** For konnectivity's server, which sends connections to these hosts here. Berth's server reads the certificate instead. */
  readonly hosts: readonly string[];
  /** Where the agent connects to for `host:port`, or what of this process serves the connection; undefined: it may not. */
  readonly resolve: (address: string) => ListenAt | ((channel: Duplex) => void) | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How many servers it is connected to, each time that changes. */
  readonly onChange?: ((servers: number) => void) | undefined;
}

export interface TunnelAgent {
  /** Connects again with the present certificate; the former connections take nothing new and end when they are idle. */
  renew(): void;
  /** Resolves after the signal, when the connections have ended or ten seconds later. */
  readonly ended: Promise<void>;
}

/**
 * The cluster's end of the tunnel: it dials out to the server, and connects to what `resolve` allows. If the server says that there
 * are several of it, it keeps a connection to each: it dials until it has met all of them.
 */
export function startTunnelAgent(options: TunnelAgentOptions): TunnelAgent {
  const agent = new Agent(options);
  return { renew: () => agent.renew(), ended: agent.run() };
}

class Agent {
  readonly #options: TunnelAgentOptions;
  /** By the name of the server. */
  readonly #links = new Map<string, TunnelLink>();
  /** Before the last renewal, with the name of the server: each serves until there is a new one to the same server. */
  readonly #former = new Map<TunnelLink, string>();
  readonly #agentId = randomUUID();
  readonly #wake = new WakeUp();
  #servers = 1;
  #renewals = 0;

  constructor(options: TunnelAgentOptions) {
    this.#options = options;
  }

  renew(): void {
    for (const [serverId, link] of this.#links) this.#former.set(link, serverId);
    this.#links.clear();
    this.#renewals += 1;
    this.#wake.call();
  }

  async run(): Promise<void> {
    const { clock, random, signal, log } = this.#options;
    const [failed, missed] = [new Backoff(RETRY, random), new Backoff(MISSED, random)];
    while (!signal.aborted) {
      if (this.#links.size >= this.#servers) {
        await this.#wake.wait(signal);
        continue;
      }
      let waitMs = 0;
      try {
        const isNew = await this.#connect();
        failed.reset();
        if (isNew) missed.reset();
        else waitMs = missed.nextMs();
      } catch (error) {
        if (signal.aborted) break;
        log.warn('the tunnel cannot be opened', { error: errorText(error) });
        waitMs = failed.nextMs();
      }
      if (waitMs > 0) await sleep(clock, waitMs, signal);
    }
    await this.#drain([...this.#links.values(), ...this.#former.keys()]);
  }

  async #drain(links: readonly TunnelLink[]): Promise<void> {
    const { clock } = this.#options;
    for (const link of links) link.drain();
    const untilMs = clock.now() + DRAIN_MS;
    while (links.some(({ connections }) => connections > 0) && clock.now() < untilMs)
      await new Promise<void>((done) => clock.schedule(20, done));
    for (const link of links) link.close();
    while (this.#links.size + this.#former.size > 0)
      await new Promise<void>((done) => clock.schedule(20, done));
  }

  /** @returns false for a server that it is connected to already */
  async #connect(): Promise<boolean> {
    const { clock, log, onChange } = this.#options;
    const renewals = this.#renewals;
    const { session, stream, headers } = await openCall(this.#options, this.#agentId);
    // Opened with the certificate before: the next one has the present one.
    if (renewals !== this.#renewals) {
      session.destroy();
      return true;
    }
    const serverId = one(headers['serverid']) ?? '';
    this.#servers = Math.max(1, Math.min(100, Number(one(headers['servercount'])) || 1));
    if (this.#links.has(serverId)) {
      session.destroy();
      return false;
    }
    const hasWindows = headers[BERTH_HEADER] !== undefined;
    const onClosed = (): void => {
      stopPings();
      session.destroy();
      this.#former.delete(link);
      if (this.#links.get(serverId) === link) this.#links.delete(serverId);
      onChange?.(this.#links.size);
      this.#wake.call();
      log.info('the tunnel was closed', { serverId });
    };
    const connect = (address: string, signal: AbortSignal): Promise<DialedTarget> =>
      this.#dial(address, signal);
    const link = new TunnelLink({ stream, hasWindows, connect, onClosed });
    // A server of gRPC for Go ends connections of clients that ping more often than every five minutes.
    const stopPings = hasWindows ? keepAlive(stream, clock, () => undefined) : (): void => undefined;
    this.#links.set(serverId, link);
    onChange?.(this.#links.size);
    log.info('the tunnel is open', { serverId });
    this.#endFormer(serverId);
    return true;
  }

  #endFormer(serverId: string): void {
    const { clock } = this.#options;
    for (const [link, of] of this.#former) {
      if (of !== serverId) continue;
      link.drain();
      const endIdle = (): void => {
        if (!this.#former.has(link)) return;
        if (link.connections === 0) link.close();
        else clock.schedule(1_000, endIdle);
      };
      endIdle();
    }
  }

  #dial(address: string, signal: AbortSignal): Promise<DialedTarget> {
    const target = this.#options.resolve(address);
    if (typeof target === 'function') return Promise.resolve(target);
    return new Promise((resolve, reject) => {
      if (target === undefined) throw dialProblem(address, 'this agent may not connect to it');
      const socket = net.connect({ ...target, allowHalfOpen: true, noDelay: true });
      const fail = (problem: string): void => {
        socket.destroy();
        reject(dialProblem(address, problem));
      };
      socket.setTimeout(DIAL_TIMEOUT_MS, () => fail('it did not answer within 20 s'));
      onAbort(signal, () => fail('it was cancelled'));
      socket.once('error', (error) => fail(error.message));
      socket.once('connect', () => {
        socket.setTimeout(0);
        resolve(socket);
      });
    });
  }
}

interface OpenCall {
  readonly session: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
  readonly headers: http2.IncomingHttpHeaders;
}

/** @throws TransientError if the server cannot be reached, or does not answer as one */
async function openCall(options: TunnelAgentOptions, agentId: string): Promise<OpenCall> {
  const { server, tls, hosts, signal, clock } = options;
  const { host, port, servername = host } = server;
  const authority = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const name = net.isIP(servername) === 0 ? { servername } : {};
  const session = http2.connect(authority, { ...HTTP2_SETTINGS, ...tls(), ...name, minVersion: 'TLSv1.2' });
  let cancel: () => void = () => undefined;
  let onStop: () => void = () => undefined;
  try {
    return await new Promise<OpenCall>((resolve, reject) => {
      const fail = (problem: string, cause?: unknown): void =>
        reject(
          new TransientError(problem, { code: 'tunnel.connect', subject: `server ${host}:${port}`, cause }),
        );
      cancel = clock.schedule(CONNECT_TIMEOUT_MS, () => fail('did not answer within 10 s'));
      onStop = () => fail('is not waited for');
      signal.addEventListener('abort', onStop);
      session.on('error', (error) => fail(errorText(error), error));
      session.once('close', () => fail('closed the connection'));
      session.once('connect', (_session, socket) => {
        if (session.destroyed) return;
        session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
        socket.setKeepAlive(true, 20_000);
      });
      const identifiers = hosts.map((name) => `host=${encodeURIComponent(name)}`).join('&');
      const stream = session.request(
        {
          ...{ ':method': 'POST', ':path': AGENT_CALL },
          ...{ 'content-type': 'application/grpc', te: 'trailers', [BERTH_HEADER]: '1' },
          ...{ agentid: agentId, agentidentifiers: identifiers },
        },
        { endStream: false },
      );
      stream.on('error', (error) => fail(errorText(error), error));
      stream.once('response', (headers) => {
        const status = one(headers['grpc-status']);
        if (headers[':status'] !== 200 || (status !== undefined && status !== '0'))
          fail(
            `refused this agent: ${decodeURIComponent(one(headers['grpc-message']) ?? `status ${headers[':status']}`)}`,
          );
        else resolve({ session, stream, headers });
      });
    });
  } catch (error) {
    session.destroy();
    throw error;
  } finally {
    cancel();
    signal.removeEventListener('abort', onStop);
  }
}

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}

function dialProblem(address: string, problem: string): TransientError {
  return new TransientError(problem, { code: 'tunnel.dial', subject: `connection to ${address}` });
}
