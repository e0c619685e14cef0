import { setImmediate as nextTurn } from 'node:timers/promises';
import { TransientError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { RequestSubject } from './kube-errors.ts';

/** The default limit of concurrent requests to one server. */
export const DEFAULT_MAX_REQUESTS = 32;

interface Waiting {
  readonly start: () => void;
  readonly cancel: () => void;
}

/**
 * Limits the number of concurrent requests. Further requests wait in order. The wait has its own limit, because the
 * timeout of a request starts when it is sent. After a response, the caller continues only when waiting requests have
 * been sent, so that the server is busy meanwhile. With twice as many senders as slots, both sides always have work.
 */
export class RequestSlots {
  readonly #clock: Clock;
  readonly #waitLimitMs: number;
  /** Served in the order of insertion. */
  readonly #waiting = new Set<Waiting>();
  #free: number;

  constructor(slots: number, waitLimitMs: number, clock: Clock) {
    this.#free = slots;
    this.#waitLimitMs = waitLimitMs;
    this.#clock = clock;
  }

  /** @throws TransientError `kube.busy` when no slot became free in time */
  async run<T>(subject: RequestSubject, send: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#waitForSlot(subject);
    try {
      return await send();
    } finally {
      // The HTTP/2 session sends its data at the end of the event loop turn.
      if (this.#passSlotOn()) await nextTurn();
    }
  }

  #waitForSlot({ method, path }: RequestSubject): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.schedule(this.#waitLimitMs, () => {
        this.#waiting.delete(waiting);
        const problem = `not sent within ${this.#waitLimitMs} ms: the limit of concurrent requests is in use`;
        reject(new TransientError(problem, { code: 'kube.busy', subject: `${method} ${path}` }));
      });
      const waiting = { start: resolve, cancel };
      this.#waiting.add(waiting);
    });
  }

  /**
   * Gives the slot to the request that has waited longest.
   * @returns whether any request waited
   */
  #passSlotOn(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#free += 1;
      return false;
    }
    this.#waiting.delete(first);
    first.cancel();
    first.start();
    return true;
  }
}
