import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { TransientError } from '../../../core/errors.ts';
import { openTunnel } from '../proxy/open-tunnel.ts';
import { portOf, type ProxyAddress, withoutBrackets } from '../proxy/proxy-address.ts';
import { type TlsMaterial, tlsOptions } from '../proxy/tls-material.ts';
import { startAwakeTimeout } from './awake-timeout.ts';

/** A connection and how many streams are open on it. */
export interface PooledSession {
  readonly session: ClientHttp2Session;
  streams: number;
  /** A ping is under way. */
  probed: boolean;
}

export interface Http2SessionsOptions {
  readonly base: URL;
  readonly tls: TlsMaterial;
  readonly proxy: ProxyAddress | undefined;
  /** Until a new connection may be used. */
  readonly connectTimeoutMs: number;
}

/** Between two probes of a connection that the other side left without a FIN. */
const KEEP_ALIVE_MS = 30_000;
/** A list of some MiB must not wait for a window update every 64 KiB; watches share the connection with it. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024;
const SESSION_MEMORY_MB = 256;
const PONG_WITHIN_MS = 5_000;

/** Connections to one server, opened when the streams that the server allows on the others are in use. */
export class Http2Sessions {
  readonly #options: Http2SessionsOptions;
  /** Those that take new streams. */
  readonly #usable = new Set<PooledSession>();
  readonly #all = new Map<ClientHttp2Session, TLSSocket>();
  /** Aborts connections that are still being opened. */
  readonly #closing = new AbortController();
  #opening: Promise<boolean> | undefined;
  #retired = false;

  constructor(options: Http2SessionsOptions) {
    this.#options = options;
  }

  /**
   * A connection with room for one more stream, counted already: give it back with `done`. Undefined: the server does not speak
   * HTTP/2. Rejects when it cannot be reached.
   */
  async take(): Promise<PooledSession | undefined> {
    for (let isFirst = true; ; isFirst = false) {
      const pooled = this.#withRoom();
      if (pooled !== undefined) return pooled;
      const begunBefore = isFirst && this.#opening !== undefined;
      this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
      try {
        if (!(await this.#opening)) return undefined;
      } catch (error) {
        // Others began before we asked: what they failed of may be over, as when a server has just started.
        if (!begunBefore || isTimeout(error)) throw error;
      }
    }
  }

  done(pooled: PooledSession): void {
    pooled.streams -= 1;
    if (pooled.streams > 0 || pooled.session.destroyed) return;
    if (!this.#usable.has(pooled)) pooled.session.close();
    // An idle connection does not keep the process alive.
    else pooled.session.unref();
  }

  /**
   * Is anybody there? A connection whose other side does not answer a ping ends, with all its streams.
   * @param trusted go on using it meanwhile: nothing speaks against it but that a stream was given up
   */
  probe(pooled: PooledSession, trusted: boolean): void {
    const { session } = pooled;
    if (session.destroyed) return;
    if (!trusted) this.#usable.delete(pooled);
    if (pooled.probed) return;
    pooled.probed = true;
    const withinMs = Math.min(PONG_WITHIN_MS, this.#options.connectTimeoutMs);
    const endLimit = startAwakeTimeout(withinMs, () => session.destroy(), false);
    session.ping((error) => {
      endLimit();
      pooled.probed = false;
      if (error === null && !session.closed && !this.#retired) this.#usable.add(pooled);
    });
  }

  /** No new streams; each connection ends with its last one. */
  retire(): void {
    this.#retired = true;
    for (const { session } of this.#usable) session.close();
    this.#usable.clear();
  }

  close(): void {
    this.retire();
    this.#closing.abort(closedError(this.#options.base));
    for (const [session, socket] of this.#all) {
      session.destroy();
      // After `session.close()` the session waits for the server, which may never answer.
      socket.destroy();
    }
  }

  #withRoom(): PooledSession | undefined {
    for (const pooled of this.#usable) {
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
    const pooled: PooledSession = { session, streams: 0, probed: false };
    const leave = (): boolean => this.#usable.delete(pooled);
    this.#all.set(session, socket);
    // The streams report what went wrong; this only keeps the error from being unhandled.
    session.on('error', leave);
    session.on('goaway', leave);
    session.on('close', () => {
      leave();
      this.#all.delete(session);
    });
    await settled(session, this.#options);
    if (this.#retired) session.close();
    else if (takesStreams(session)) this.#usable.add(pooled);
    else {
      // Trying at once again would open one connection after the other for as long as the server is like that.
      session.destroy();
      throw closedError(this.#options.base);
    }
    return true;
  }
}

/** A server that is going down may greet with a goodbye, or allow no stream at all. */
function takesStreams({ closed, destroyed, remoteSettings }: ClientHttp2Session): boolean {
  return !closed && !destroyed && remoteSettings.maxConcurrentStreams !== 0;
}

/** How many streams the server allows is known from its settings on. */
function settled(session: ClientHttp2Session, options: Http2SessionsOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (): void => {
      endLimit();
      session.destroy();
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

/** Rejects with the reason of `closing`, too. */
async function openSocket(
  { base, tls, proxy, connectTimeoutMs }: Http2SessionsOptions,
  closing: AbortSignal,
): Promise<TLSSocket> {
  const late = new AbortController();
  const endTime = startAwakeTimeout(connectTimeoutMs, () =>
    late.abort(connectError(base, `within ${connectTimeoutMs} ms`)),
  );
  const signal = AbortSignal.any([closing, late.signal]);
  const [host, port] = [withoutBrackets(base.hostname), portOf(base)];
  try {
    const tunnel = proxy && (await openTunnel({ proxy, host, port, tls, signal }));
    const target = tunnel === undefined ? { host, port } : { host, socket: tunnel };
    return await secured(connectTls({ ...tlsOptions(host, tls), ...target, ALPNProtocols }), signal);
  } finally {
    endTime();
  }
}

const ALPNProtocols = ['h2', 'http/1.1'];

function secured(socket: TLSSocket, signal: AbortSignal): Promise<TLSSocket> {
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
