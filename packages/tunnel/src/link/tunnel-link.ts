import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { ClientHttp2Stream, ServerHttp2Stream } from 'node:http2';
import { onAbort } from '@berth/runtime/loop/sleep';
import { errorText, TransientError } from '@berth/runtime/errors';
import { joinStreams } from '@berth/runtime/http/forward-request';
import type { Packet } from '../wire/packet.ts';
import { PacketStream } from '../wire/packet-stream.ts';
import { Channel, lost } from './channel.ts';

/** The limit of connections in one tunnel. */
const MAX_CHANNELS = 10_000;
/** How long a peer may take to end an idle link. */
const CLOSE_MS = 1_000;
/** As konnectivity's client waits for a dial. */
const DIAL_TIMEOUT_MS = 30_000;

/** What is at the other end of a connection: a connection to a server, or a function of this process that serves it. */
export type DialedTarget = Duplex | ((channel: Duplex) => void);

/** Connects to an address of the agent's cluster. Rejects with what the dialer shall read. */
export type Connect = (address: string, signal: AbortSignal) => Promise<DialedTarget>;

export interface LinkOptions {
  readonly stream: ClientHttp2Stream | ServerHttp2Stream;
  /** The peer knows windows and half-closed connections. */
  readonly hasWindows: boolean;
  /** Of an agent: what it does for a dial. Absent: this end is the server, which dials. */
  readonly connect?: Connect;
  onClosed(): void;
}

interface PendingDial {
  resolve(channel: Channel): void;
  reject(error: Error): void;
}

/**
 * One call between a server and an agent, and all connections in it. The server asks for a connection with a random number, the
 * agent gives it an identifier. Both ends close: the server with `close`, the agent with `closed`.
 */
export class TunnelLink {
  readonly #options: LinkOptions;
  readonly #packets: PacketStream;
  readonly #channels = new Map<bigint, Channel>();
  readonly #dials = new Map<bigint, PendingDial>();
  /** Of the agent: connections that are being made. */
  readonly #connecting = new Map<bigint, AbortController>();
  #stalled = 0;
  #closing: NodeJS.Timeout | undefined;
  #nextId = 1n;
  #isDraining = false;
  #isClosed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#packets = new PacketStream(options.stream, {
      packet: (packet) => this.#handle(packet),
      closed: () => this.#end(),
    });
  }

  /** It takes no more connections. */
  get isEnding(): boolean {
    return this.#isDraining || this.#isClosed;
  }

  get connections(): number {
    return this.#channels.size + this.#connecting.size;
  }

  /**
   * A connection to an address of the agent's cluster, made by the agent.
   * @throws TransientError with the agent's reason, or when the signal aborts
   */
  async dial(address: string, signal: AbortSignal): Promise<Channel> {
    const random = BigInt.asUintN(63, randomBytes(8).readBigUInt64BE());
    const limit = AbortSignal.any([signal, AbortSignal.timeout(DIAL_TIMEOUT_MS)]);
    try {
      const channel = await new Promise<Channel>((resolve, reject) => {
        if (this.#isClosed) throw dialProblem(address, 'the agent has gone away');
        if (this.#channels.size >= MAX_CHANNELS)
          throw dialProblem(address, 'the tunnel has too many connections');
        this.#dials.set(random, { resolve, reject });
        onAbort(limit, () => {
          if (!this.#dials.has(random)) return;
          this.#packets.send({ type: 'cancel-dial', random });
          reject(
            dialProblem(
              address,
              signal.aborted ? 'it was cancelled' : 'the agent did not answer within 30 s',
            ),
          );
        });
        this.#packets.send({ type: 'dial', random, protocol: 'tcp', address });
      });
      // The link may end in the same turn, and nobody has listened yet.
      if (channel.destroyed) throw lost('the tunnel was closed');
      return channel;
    } finally {
      this.#dials.delete(random);
    }
  }

  /** Of the agent: says that it takes no more connections. Those that are there go on. */
  drain(): void {
    this.#isDraining = true;
    this.#packets.send({ type: 'drain' });
  }

  /** Ends all that it carries. An idle link sends what is waiting, and the peer then ends it; one that does not is not waited for. */
  close(): void {
    this.#packets.end();
    if (this.connections > 0) this.#packets.abort();
    else this.#closing ??= setTimeout(() => this.#packets.abort(), CLOSE_MS);
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#closing);
    for (const dial of this.#dials.values()) dial.reject(lost('the agent has gone away'));
    for (const connecting of this.#connecting.values()) connecting.abort();
    for (const channel of this.#channels.values()) channel.linkHasEnded();
    this.#options.onClosed();
  }

  #handle(packet: Packet): void {
    switch (packet.type) {
      case 'dial':
        if (this.#options.connect !== undefined) void this.#answerDial(packet, this.#options.connect);
        return;
      case 'dialed':
        this.#dialed(packet);
        return;
      case 'cancel-dial':
        this.#connecting.get(packet.random)?.abort();
        return;
      case 'drain':
        this.#isDraining = true;
        for (const channel of this.#channels.values()) channel.linkIsEnding();
        return;
      case 'data':
        this.#received(packet.connectId, packet.data);
        return;
      case 'close':
        this.#channels.get(packet.connectId)?.receiveClose('');
        return;
      case 'closed':
        this.#channels.get(packet.connectId)?.receiveClose(packet.error);
        return;
      case 'half-close':
        this.#channels.get(packet.connectId)?.receiveEnd();
        return;
      case 'window':
        this.#channels.get(packet.connectId)?.grant(Number(packet.bytes));
        return;
    }
  }

  #received(connectId: bigint, data: Buffer): void {
    const channel = this.#channels.get(connectId);
    if (channel !== undefined) channel.receive(data);
    // A server's own late data for a connection that the agent has closed: konnectivity's agent answers the same.
    else if (this.#options.connect !== undefined)
      this.#packets.send({ type: 'closed', connectId, error: 'unrecognized connectID' });
  }

  #dialed({ random, connectId, error }: Extract<Packet, { type: 'dialed' }>): void {
    const dial = this.#dials.get(random);
    // Nobody waits for it any more, or the agent gives an identifier twice.
    if (dial === undefined || this.#channels.has(connectId)) {
      if (error === '' && !this.#channels.has(connectId)) this.#packets.send({ type: 'close', connectId });
      dial?.reject(lost(`the agent named connection ${connectId} twice`));
      return;
    }
    if (error === '') dial.resolve(this.#open(connectId));
    else dial.reject(lost(error));
  }

  async #answerDial({ random, address }: Extract<Packet, { type: 'dial' }>, connect: Connect): Promise<void> {
    const abort = new AbortController();
    try {
      if (this.#isDraining) throw lost('the agent is about to end');
      if (this.connections >= MAX_CHANNELS) throw lost('the tunnel has too many connections');
      if (this.#connecting.has(random)) throw lost('this dial was sent twice');
      this.#connecting.set(random, abort);
      const target = await connect(address, abort.signal);
      if (this.#isClosed || abort.signal.aborted) {
        if (typeof target !== 'function') target.destroy();
        return;
      }
      const connectId = this.#nextId;
      this.#nextId += 1n;
      const channel = this.#open(connectId);
      this.#packets.send({ type: 'dialed', random, connectId, error: '' });
      if (typeof target === 'function') target(channel);
      else joinStreams(channel, target);
    } catch (error) {
      this.#packets.send({ type: 'dialed', random, connectId: 0n, error: errorText(error) });
    } finally {
      if (this.#connecting.get(random) === abort) this.#connecting.delete(random);
    }
  }

  #open(connectId: bigint): Channel {
    let isCloseSent = false;
    const isAgent = this.#options.connect !== undefined;
    const channel: Channel = new Channel({
      hasWindows: this.#options.hasWindows,
      sendData: (data, done) => {
        this.#packets.send({ type: 'data', connectId, data });
        this.#packets.whenWritable(done);
      },
      sendWindow: (bytes) => this.#packets.send({ type: 'window', connectId, bytes: BigInt(bytes) }),
      sendHalfClose: () => this.#packets.send({ type: 'half-close', connectId }),
      sendClose: () => {
        if (isCloseSent) return;
        isCloseSent = true;
        this.#packets.send(isAgent ? { type: 'closed', connectId, error: '' } : { type: 'close', connectId });
      },
      stalled: (isStalled) => this.#countStalled(isStalled),
      forget: () => this.#channels.delete(connectId),
    });
    // The link may end before somebody reads the channel, which is no defect of this process.
    channel.on('error', () => undefined);
    this.#channels.set(connectId, channel);
    return channel;
  }

  #countStalled(isStalled: boolean): void {
    this.#stalled += isStalled ? 1 : -1;
    if (this.#stalled > 0) this.#packets.pause();
    else this.#packets.resume();
  }
}

function dialProblem(address: string, problem: string): TransientError {
  return new TransientError(problem, { code: 'tunnel.dial', subject: `connection to ${address}` });
}
