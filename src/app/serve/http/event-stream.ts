import type { Clock } from '@berth/runtime/clock/clock';
import type { ControllerEvent, ControllerEventBody } from '../../../controllers/events/controller-events.ts';

/** A slow reader loses the oldest events, so that it cannot fill the memory of the controller. */
const MAX_WAITING = 10_000;

/** Passes each event to every current reader. Each reader sees the events in order. */
export class EventStream implements AsyncIterable<ControllerEvent> {
  readonly #clock: Clock;
  readonly #readers = new Set<Reader>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  emit(body: ControllerEventBody): void {
    const event = { atMs: this.#clock.now(), ...body };
    for (const reader of this.#readers) reader.push(event);
  }

  close(): void {
    this.#closed = true;
    for (const reader of this.#readers) reader.end();
  }

  /** Reading starts with this call, not with the first `next`. */
  [Symbol.asyncIterator](): AsyncIterator<ControllerEvent> {
    const reader = new Reader();
    this.#readers.add(reader);
    if (this.#closed) reader.end();
    return {
      next: () => reader.next(),
      return: () => {
        this.#readers.delete(reader);
        reader.end();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

class Reader {
  readonly #waiting: ControllerEvent[] = [];
  readonly #takers: ((result: IteratorResult<ControllerEvent>) => void)[] = [];
  #ended = false;

  push(event: ControllerEvent): void {
    const taker = this.#takers.shift();
    if (taker !== undefined) taker({ done: false, value: event });
    else {
      this.#waiting.push(event);
      if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    }
  }

  next(): Promise<IteratorResult<ControllerEvent>> {
    const event = this.#waiting.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  end(): void {
    this.#ended = true;
    for (const taker of this.#takers.splice(0)) taker({ done: true, value: undefined });
  }
}
