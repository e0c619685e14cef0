import type { ServerResponse } from 'node:http';
import type { Clock } from '@berth/runtime/clock/clock';

/** Changes within this time are one event. */
const GATHER_MS = 1_000;
/** Proxies end connections that are silent for a minute. */
const HEARTBEAT_MS = 20_000;
/** A viewer with more unread bytes is too slow. */
const MAX_UNREAD_BYTES = 16 * 1024;
const MAX_STREAMS = 400;
const MAX_STREAMS_OF_ONE = 20;

interface Stream {
  readonly response: ServerResponse;
  readonly username: string;
  /** Whether the viewer may still look. */
  readonly isAllowed: () => Promise<boolean>;
}

/**
 * Server-sent events: tells each open page that something changed, and the page asks again for what it shows. An event has a number
 * and nothing else. A viewer that does not read is dropped, and never holds anything up.
 */
export class LiveStreams {
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #revision: () => number;
  readonly #open = new Set<Stream>();
  #cancelEvent: (() => void) | undefined;
  #cancelBeat: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'schedule'>, revision: () => number) {
    this.#clock = clock;
    this.#revision = revision;
  }

  get size(): number {
    return this.#open.size;
  }

  /** @returns false if there are too many */
  add(stream: Stream): boolean {
    const own = [...this.#open].filter(({ username }) => username === stream.username).length;
    if (this.#open.size >= MAX_STREAMS || own >= MAX_STREAMS_OF_ONE) return false;
    const { response } = stream;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    this.#open.add(stream);
    response.once('close', () => this.#drop(stream));
    this.#send(stream, this.#event());
    this.#cancelBeat ??= this.#clock.schedule(HEARTBEAT_MS, () => this.#beat());
    return true;
  }

  changed(): void {
    if (this.#open.size === 0) return;
    this.#cancelEvent ??= this.#clock.schedule(GATHER_MS, () => {
      this.#cancelEvent = undefined;
      const event = this.#event();
      for (const stream of this.#open) this.#send(stream, event);
    });
  }

  close(): void {
    this.#cancelEvent?.();
    this.#cancelBeat?.();
    for (const stream of this.#open) stream.response.destroy();
  }

  #event(): string {
    return `event: changed\ndata: ${this.#revision()}\n\n`;
  }

  #send(stream: Stream, text: string): void {
    const { response } = stream;
    response.write(text);
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  }

  #beat(): void {
    this.#cancelBeat = undefined;
    for (const stream of this.#open) {
      this.#send(stream, ': still here\n\n');
      void stream
        .isAllowed()
        .catch(() => true)
        .then((isAllowed) => {
          if (!isAllowed) stream.response.end();
        });
    }
    if (this.#open.size > 0) this.#cancelBeat = this.#clock.schedule(HEARTBEAT_MS, () => this.#beat());
  }

  #drop(stream: Stream): void {
    this.#open.delete(stream);
  }
}
