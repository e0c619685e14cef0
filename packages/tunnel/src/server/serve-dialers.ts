import type { X509Certificate } from 'node:crypto';
import type { Http2SecureServer, ServerHttp2Stream } from 'node:http2';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { BerthError, errorText } from '@berth/runtime/errors';
import { joinStreams } from '@berth/runtime/http/forward-request';
import type { Logger } from '@berth/runtime/logger';
import type { Packet } from '../wire/packet.ts';
import { PacketStream } from '../wire/packet-stream.ts';
import { answerCall, DIALER_CALL, GRPC_STATUS, peerCertificate, refuseCall } from '../wire/grpc-call.ts';

/** The only connection of a call. */
const CONNECT_ID = 1n;

/** A place in a cluster. */
export interface DialTarget {
  readonly cluster: string;
  /** `host:port`, as the agent knows it. */
  readonly address: string;
}

export interface DialerOptions {
  readonly targetOf: (address: string, dialer: X509Certificate) => DialTarget | undefined;
  readonly dial: (target: DialTarget, signal: AbortSignal) => Promise<Duplex>;
  readonly log: Logger;
}

/** Serves programs that want a connection to a cluster: by konnectivity's ProxyService, or by HTTP CONNECT. */
export function serveDialers(server: Http2SecureServer, options: DialerOptions): void {
  server.on('stream', (stream, headers) => {
    if (headers[':path'] === DIALER_CALL) new ProxyCall(stream, options);
    else
      refuseCall(stream, GRPC_STATUS.unimplemented, 'dialers call /ProxyService/Proxy, or use HTTP CONNECT');
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined);
    void connectByHttp(request, { socket, head }, options);
  });
}

async function connectByHttp(
  { url = '', socket: connection }: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  { targetOf, dial }: DialerOptions,
): Promise<void> {
  const certificate = (connection as TLSSocket).getPeerX509Certificate?.();
  const target = certificate && targetOf(url, certificate);
  if (target === undefined) {
    socket.end(httpAnswer('403 Forbidden', 'this address may not be reached'));
    return;
  }
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  try {
    const channel = await dial(target, gone.signal);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) channel.write(head);
    joinStreams(socket, channel);
  } catch (error) {
    const noAgent = error instanceof BerthError && error.code === 'tunnel.no-agent';
    socket.end(httpAnswer(noAgent ? '503 Service Unavailable' : '502 Bad Gateway', errorText(error)));
  }
}

function httpAnswer(status: string, text: string): string {
  const length = Buffer.byteLength(text) + 1;
  return `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${text}\n`;
}

/** One call of ProxyService: one connection. HTTP/2 itself slows down the faster side. */
class ProxyCall {
  readonly #packets: PacketStream;
  readonly #options: DialerOptions;
  readonly #certificate: X509Certificate | undefined;
  readonly #gone = new AbortController();
  #channel: Duplex | undefined;
  #hasDialed = false;

  constructor(stream: ServerHttp2Stream, options: DialerOptions) {
    this.#options = options;
    this.#certificate = peerCertificate(stream);
    answerCall(stream);
    this.#packets = new PacketStream(stream, {
      packet: (packet) => this.#handle(packet),
      closed: () => {
        this.#gone.abort();
        this.#channel?.destroy();
      },
    });
  }

  #handle(packet: Packet): void {
    if (packet.type === 'dial' && !this.#hasDialed) {
      this.#hasDialed = true;
      void this.#dial(packet);
    } else if (packet.type === 'data' && packet.connectId === CONNECT_ID && this.#channel !== undefined) {
      if (this.#channel.writable && !this.#channel.write(packet.data)) this.#packets.pause();
    } else if (packet.type === 'close') this.#channel?.end();
    // The dialer does not wait any more, or breaks the protocol: one call is one connection.
    else this.#packets.end();
  }

  async #dial({ address, random }: Extract<Packet, { type: 'dial' }>): Promise<void> {
    const { targetOf, dial } = this.#options;
    const target = this.#certificate && targetOf(address, this.#certificate);
    try {
      if (target === undefined) throw new Error('this address may not be reached');
      const channel = await dial(target, this.#gone.signal);
      this.#channel = channel;
      this.#packets.send({ type: 'dialed', random, connectId: CONNECT_ID, error: '' });
      this.#forward(channel);
    } catch (error) {
      this.#packets.send({ type: 'dialed', random, connectId: 0n, error: errorText(error) });
      this.#packets.end();
    }
  }

  #forward(channel: Duplex): void {
    channel.on('data', (data: Buffer) => {
      if (this.#packets.send({ type: 'data', connectId: CONNECT_ID, data })) return;
      channel.pause();
      this.#packets.whenWritable(() => channel.resume());
    });
    channel.on('drain', () => this.#packets.resume());
    channel.on('error', () => undefined);
    // ProxyService has no half-closed connections.
    channel.once('end', () => channel.end());
    channel.once('close', () => {
      this.#packets.send({ type: 'closed', connectId: CONNECT_ID, error: '' });
      this.#packets.end();
    });
  }
}
