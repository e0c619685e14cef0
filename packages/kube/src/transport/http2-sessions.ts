import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { TransientError } from '@berth/runtime/errors';
import { openTunnel } from '../proxy/open-tunnel.ts';
import { portOf, type ProxyAddress, withoutBrackets } from '../proxy/proxy-address.ts';
import { type TlsMaterial, tlsOptions } from '../proxy/tls-material.ts';
import { startAwakeTimeout } from './awake-timeout.ts';

/** A connection and how many streams are open on it. */
export interface PooledSession {
  readonly session: ClientHttp2Session;
  readonly socket: TLSSocket;
  streams: number;
  /** Whether a ping is in progress. */
  isProbing: boolean;
}

export interface Http2SessionsOptions {
  readonly base: URL;
  readonly tls: TlsMaterial;
  readonly proxy: ProxyAddress | undefined;
  /** The limit until a new connection may be used. */
  readonly connectTimeoutMs: number;
}

/** The interval of probes, which find a connection that the peer left without a FIN. */
const KEEP_ALIVE_MS = 30_000;
/** A list of several MiB must not wait for a window update every 64 KiB. Watches share the connection with it. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024;
const SESSION_MEMORY_MB = 256;
const PONG_WITHIN_MS = 5_000;

/**
 * Connections to one server. A new one is opened when all streams that the server allows are in use.
 *
 * No event is relied on to learn that a connection has ended: a session whose peer is gone can be destroyed and wait for
 * ever for its socket to close. Each connection is checked when it is taken, and session and socket end together.
 */
export class Http2Sessions {
  readonly #options: Http2SessionsOptions;
  /** Sessions that accept new streams. */
  readonly #usable = new Set<PooledSession>();
  readonly #all = new Set<PooledSession>();
  /** Aborts connections that are still being opened. */
  readonly #closing = new AbortController();
  #opening: Promise<boolean> | undefined;
  #retired = false;

  constructor(options: Http2SessionsOptions) {
    this.#options = options;
  }

  /**
   * A connection with room for one more stream, which is already counted: return it with `done`. Undefined if the
   * server does not speak HTTP/2.
   * @throws TransientError when the server cannot be reached
   */
  async take(): Promise<PooledSession | undefined> {
    for (let isFirst = true; ; isFirst = false) {
      const pooled = this.#withRoom();
      if (pooled !== undefined) return pooled;
      const isSharedAttempt = isFirst && this.#opening !== undefined;
      this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
      try {
        if (!(await this.#opening)) return undefined;
      } catch (error) {
        // Another caller started this attempt earlier. The cause of its failure may be over, for example if a server
        // has just started.
        if (!isSharedAttempt || isTimeout(error)) throw error;
      }
    }
  }

  done(pooled: PooledSession): void {
    pooled.streams -= 1;
    if (pooled.streams > 0) return;
    if (!this.#usable.has(pooled) || !isAlive(pooled)) this.end(pooled);
    // An idle connection must not keep the process alive.
    else pooled.session.unref();
  }

  /**
   * Ends the connection with all its streams. The session alone would wait for the peer to close the socket. Not in this
   * turn: Node.js 20 uses the memory of a session that an event of its own destroyed, such as `goaway`
   * (nodejs/node#64113).
   */
  end(pooled: PooledSession): void {
    this.#usable.delete(pooled);
    this.#all.delete(pooled);
    setImmediate(() => {
      pooled.session.destroy();
      pooled.socket.destroy();
    });
  }

  /**
   * Checks whether the peer is alive. A connection whose peer does not answer a ping ends, with all its streams.
   * @param keepUsing open further streams on it meanwhile: the only sign of a failure is one stream that was cancelled
   */
  probe(pooled: PooledSession, keepUsing: boolean): void {
    const { session } = pooled;
    if (!isAlive(pooled)) return this.#leave(pooled);
    if (!keepUsing) this.#usable.delete(pooled);
    if (pooled.isProbing) return;
    pooled.isProbing = true;
    const withinMs = Math.min(PONG_WITHIN_MS, this.#options.connectTimeoutMs);
    const endLimit = startAwakeTimeout(withinMs, () => this.end(pooled), false);
    session.ping((error) => {
      endLimit();
      pooled.isProbing = false;
      if (error !== null || this.#retired || !isAlive(pooled)) this.#leave(pooled);
      else this.#usable.add(pooled);
    });
  }

  /** Accepts no new streams. Each connection ends with its last stream. */
  retire(): void {
    this.#retired = true;
    for (const pooled of this.#usable) this.#leave(pooled);
  }

  close(): void {
    this.retire();
    this.#closing.abort(closedError(this.#options.base));
    for (const pooled of this.#all) this.end(pooled);
  }

  /** Opens no further streams on the connection. It ends with its last stream. */
  #leave(pooled: PooledSession): void {
    this.#usable.delete(pooled);
    if (pooled.streams === 0 || pooled.session.destroyed || pooled.socket.destroyed) this.end(pooled);
  }

  #withRoom(): PooledSession | undefined {
    for (const pooled of this.#usable) {
      if (!isAlive(pooled)) {
        this.#leave(pooled);
        continue;
      }
      if (pooled.streams >= (pooled.session.remoteSettings.maxConcurrentStreams ?? Infinity)) continue;
      if (pooled.streams === 0) pooled.session.ref();
      pooled.streams += 1;
      return pooled;
    }
    return undefined;
  }

  async #open(): Promise<boolean> {
    if (this.#retired) throw closedError(this.#options.base);
    const socket = await openSocket(this.#options, this.#closing.signal);
    if (socket.alpnProtocol !== 'h2') {
      socket.destroy();
      return false;
    }
    const session = connectHttp2(this.#options.base, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      maxSessionMemory: SESSION_MEMORY_MB,
    });
    const pooled: PooledSession = { session, socket, streams: 0, isProbing: false };
    this.#all.add(pooled);
    // The streams report the error.
    session.on('error', () => this.#leave(pooled));
    session.on('goaway', () => this.#leave(pooled));
    session.on('close', () => this.end(pooled));
    try {
      await settingsReceived(session, this.#options);
    } catch (error) {
      this.end(pooled);
      throw error;
    }
    if (!this.#retired && acceptsStreams(pooled)) this.#usable.add(pooled);
    else {
      this.end(pooled);
      // An immediate retry would open one connection after the other as long as the server behaves like this.
      if (!this.#retired) throw closedError(this.#options.base);
    }
    return true;
  }
}

/** Whether streams can be opened on the connection, as far as this side knows. */
function isAlive({ session, socket }: PooledSession): boolean {
  const isEnded = session.closed || session.destroyed || socket.destroyed;
  return !isEnded && socket.writable && !socket.readableEnded;
}

/** Whether the server accepts streams: one that shuts down may start with GOAWAY, or allow no streams. */
function acceptsStreams(pooled: PooledSession): boolean {
  return isAlive(pooled) && pooled.session.remoteSettings.maxConcurrentStreams !== 0;
}

/** Waits for the settings of the server, which contain the allowed number of streams. */
function settingsReceived(session: ClientHttp2Session, options: Http2SessionsOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (): void => {
      endLimit();
      reject(closedError(options.base));
    };
    const endLimit = startAwakeTimeout(options.connectTimeoutMs, fail);
    session.once('remoteSettings', () => {
      endLimit();
      session.off('close', fail);
      session.setLocalWindowSize(SESSION_WINDOW_BYTES);
      resolve();
    });
    session.once('close', fail);
  });
}

/** Rejects with the reason of `closing` as well. */
async function openSocket(
  { base, tls, proxy, connectTimeoutMs }: Http2SessionsOptions,
  closing: AbortSignal,
): Promise<TLSSocket> {
  const timeout = new AbortController();
  const endTime = startAwakeTimeout(connectTimeoutMs, () =>
    timeout.abort(connectError(base, `within ${connectTimeoutMs} ms`)),
  );
  const signal = AbortSignal.any([closing, timeout.signal]);
  const [host, port] = [withoutBrackets(base.hostname), portOf(base)];
  try {
    const tunnel = proxy && (await openTunnel({ proxy, host, port, tls, signal }));
    const target = tunnel === undefined ? { host, port } : { host, socket: tunnel };
    return await handshakeFinished(
      connectTls({ ...tlsOptions(host, tls), ...target, ALPNProtocols }),
      signal,
    );
  } finally {
    endTime();
  }
}

const ALPNProtocols = ['h2', 'http/1.1'];

function handshakeFinished(socket: TLSSocket, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const close = (): void => void socket.destroy(signal.reason as Error);
    const endWait = (): void => signal.removeEventListener('abort', close);
    signal.addEventListener('abort', close, { once: true });
    if (signal.aborted) close();
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.once('error', (error: Error) => {
      endWait();
      reject(error);
    });
    socket.once('close', () => {
      endWait();
      reject(signal.aborted ? (signal.reason as Error) : new Error('the connection was closed'));
    });
    socket.once('secureConnect', () => {
      endWait();
      resolve(socket);
    });
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof TransientError && error.code === 'kube.timeout';
}

function connectError(base: URL, detail: string): TransientError {
  return new TransientError(`no connection ${detail}`, { code: 'kube.timeout', subject: base.origin });
}

function closedError(base: URL): TransientError {
  return new TransientError('the connection was closed', { code: 'kube.network', subject: base.origin });
}
