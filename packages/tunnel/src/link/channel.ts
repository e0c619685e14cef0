import { Duplex } from 'node:stream';
import { TransientError } from '@berth/runtime/errors';

/** How much of one connection may be on its way before its reader has taken it. */
const WINDOW_BYTES = 1024 * 1024;
/** The largest part of one packet. Smaller than the window, so that connections take turns. */
const PART_BYTES = 64 * 1024;
/** A peer that knows no windows and whose connection waits for a slow reader is not read meanwhile, at most for this long. */
const STALL_MS = 10_000;

/** What a channel needs of its link. */
export interface ChannelPeer {
  readonly hasWindows: boolean;
  sendData(part: Buffer, done: () => void): void;
  sendWindow(bytes: number): void;
  sendHalfClose(): void;
  sendClose(): void;
  /** A peer without windows is to be read no more, or again. */
  stalled(isStalled: boolean): void;
  forget(): void;
}

/**
 * One connection in a tunnel, as a stream. With a peer of Berth each direction has a window: the reader grants what it has
 * taken, so a slow reader stops its own sender and nobody else. Other peers send without limit; what waits for a slow reader
 * then stops the whole link after `WINDOW_BYTES`, and the connection is closed after ten seconds without progress.
 */
export class Channel extends Duplex {
  /** Its link takes no more connections; at that moment it emits `ending`. What it carries goes on. */
  isEnding = false;
  readonly #peer: ChannelPeer;
  #credit: number;
  #granted = WINDOW_BYTES;
  #waiting: (() => void) | undefined;
  #isClosedByPeer = false;
  #stall: NodeJS.Timeout | undefined;

  constructor(peer: ChannelPeer) {
    super({ readableHighWaterMark: WINDOW_BYTES / 2, writableHighWaterMark: PART_BYTES });
    this.#peer = peer;
    this.#credit = peer.hasWindows ? WINDOW_BYTES : Infinity;
  }

  /** For `http.Agent`: a connection in a tunnel keeps no process alive, used or not. */
  ref(): this {
    return this;
  }

  linkIsEnding(): void {
    this.isEnding = true;
    this.emit('ending');
  }

  /** What the peer had sent when it closed the connection is still read. */
  linkHasEnded(): void {
    if (!this.#isClosedByPeer) this.destroy(lost('the tunnel was closed'));
  }

  /** The peer sent data. */
  receive(data: Buffer): void {
    if (this.destroyed || this.readableEnded) return;
    if (this.#peer.hasWindows) {
      this.#granted -= data.length;
      if (this.#granted < 0) {
        this.destroy(lost('the peer sent more than its window'));
        return;
      }
    }
    this.push(data);
    if (!this.#peer.hasWindows && this.readableLength > WINDOW_BYTES) this.#startStall();
  }

  /** The peer's reader took so many bytes. */
  grant(bytes: number): void {
    this.#credit += bytes;
    this.#resume();
  }

  /** The peer sends no more data. */
  receiveEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  /** The peer closed the connection in both directions. What it sent before is still read. */
  receiveClose(error: string): void {
    if (this.#isClosedByPeer || this.destroyed) return;
    this.#isClosedByPeer = true;
    if (error !== '') {
      this.destroy(lost(error));
      return;
    }
    this.push(null);
    this.#resume();
    this.end();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send(chunk, done);
  }

  /** What was written in one turn is one packet, if it is small enough. */
  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  /** Called before the reader has its part, so what it took is counted later. */
  override _read(): void {
    process.nextTick(() => this.#countTaken());
  }

  override _final(done: () => void): void {
    if (!this.#isClosedByPeer) {
      if (this.#peer.hasWindows) this.#peer.sendHalfClose();
      else this.#peer.sendClose();
    }
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#endStall();
    this.#resume();
    this.#peer.sendClose();
    this.#peer.forget();
    done(error);
  }

  #send(chunk: Buffer, done: () => void): void {
    if (this.#isClosedByPeer || this.destroyed || chunk.length === 0) {
      done();
      return;
    }
    if (this.#credit <= 0) {
      this.#waiting = () => this.#send(chunk, done);
      return;
    }
    const part = chunk.subarray(0, Math.min(PART_BYTES, this.#credit));
    this.#credit -= part.length;
    this.#peer.sendData(part, () => this.#send(chunk.subarray(part.length), done));
  }

  #countTaken(): void {
    if (this.destroyed) return;
    if (this.readableLength <= WINDOW_BYTES / 2) this.#endStall();
    const taken = WINDOW_BYTES - this.#granted - this.readableLength;
    if (!this.#peer.hasWindows || taken < WINDOW_BYTES / 4) return;
    this.#granted += taken;
    this.#peer.sendWindow(taken);
  }

  #resume(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  #startStall(): void {
    if (this.#stall !== undefined) return;
    this.#peer.stalled(true);
    this.#watchStall();
  }

  #watchStall(): void {
    const length = this.readableLength;
    this.#stall = setTimeout(() => {
      if (this.readableLength < length) this.#watchStall();
      else this.destroy(lost(`its reader took nothing for ${STALL_MS / 1_000} s`));
    }, STALL_MS);
  }

  #endStall(): void {
    if (this.#stall === undefined) return;
    clearTimeout(this.#stall);
    this.#stall = undefined;
    this.#peer.stalled(false);
  }
}

/** A connection in a tunnel ended before its end. */
export function lost(problem: string): TransientError {
  return new TransientError(problem, { code: 'tunnel.connection', subject: 'connection in the tunnel' });
}
