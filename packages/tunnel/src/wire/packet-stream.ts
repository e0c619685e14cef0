import { constants, type ClientHttp2Stream, type ServerHttp2Stream } from 'node:http2';
import { InputError } from '@berth/runtime/errors';
import { encodePacket, parsePacket, type Packet } from './packet.ts';

/** A flag and a length are before each message (gRPC over HTTP/2, "Length-Prefixed-Message"). */
const PREFIX_BYTES = 5;
/** The limit of gRPC for Go. Peers send at most 64 KiB of data in a packet. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

function prefixOf(length: number): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(length, 1);
  return prefix;
}

export interface PacketHandler {
  packet(packet: Packet): void;
  /** Once. No packet comes after it. */
  closed(): void;
}

/**
 * The packets of one gRPC call in both directions: each a message in an HTTP/2 stream. gRPC itself is this file, because the
 * protocol needs of it only two calls, no compression and no deadlines.
 */
export class PacketStream {
  readonly #stream: ClientHttp2Stream | ServerHttp2Stream;
  readonly #waiting: (() => void)[] = [];
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(stream: ClientHttp2Stream | ServerHttp2Stream, handler: PacketHandler) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => {
      try {
        this.#feed(chunk, handler);
      } catch {
        // Whatever a peer sends that is no packet ends its call, and nothing else.
        this.abort();
      }
    });
    stream.on('drain', () => this.#wake());
    stream.on('error', () => undefined);
    stream.on('end', () => this.end());
    stream.once('close', () => {
      this.#wake();
      handler.closed();
    });
  }

  /** @returns whether more may be sent at once; if not, `whenWritable` says when */
  send(packet: Packet): boolean {
    if (this.#stream.destroyed || this.#stream.writableEnded) return true;
    return this.#stream.write(encodePacket(packet, prefixOf));
  }

  /** Calls back once the packets that were sent have left, or the call has ended. */
  whenWritable(callback: () => void): void {
    if (this.#stream.writableNeedDrain && !this.#stream.destroyed) this.#waiting.push(callback);
    else callback();
  }

  /** Reads no more packets until `resume`. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Sends what is waiting, and ends the call. */
  end(): void {
    if (!this.#stream.writableEnded) this.#stream.end();
  }

  /** Ends the call at once. */
  abort(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #wake(): void {
    for (const callback of this.#waiting.splice(0)) callback();
  }

  #feed(chunk: Buffer, handler: PacketHandler): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= PREFIX_BYTES) {
      const length = this.#messageLength();
      if (this.#size < PREFIX_BYTES + length) return;
      const bytes = this.#joined();
      const packet = parsePacket(bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + length));
      const rest = bytes.subarray(PREFIX_BYTES + length);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#size = rest.length;
      if (packet !== undefined) handler.packet(packet);
    }
  }

  #messageLength(): number {
    if ((this.#chunks[0] as Buffer).length < PREFIX_BYTES) this.#joined();
    const prefix = this.#chunks[0] as Buffer;
    const length = prefix.readUInt32BE(1);
    if (prefix[0] === 0 && length <= MAX_MESSAGE_BYTES) return length;
    throw new InputError(`is compressed, or has ${length} bytes, expected at most ${MAX_MESSAGE_BYTES}`, {
      code: 'tunnel.message',
      subject: 'message of the tunnel',
    });
  }

  #joined(): Buffer {
    const [first = Buffer.alloc(0)] = this.#chunks;
    const bytes = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    this.#chunks = [bytes];
    return bytes;
  }
}
