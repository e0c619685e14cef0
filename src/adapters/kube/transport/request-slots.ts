import { setImmediate as nextTurn } from 'node:timers/promises';
import { TransientError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/ports.ts';
import type { RequestSubject } from './kube-errors.ts';

/** Requests to one server at the same time, where nobody says otherwise. */
export const DEFAULT_MAX_REQUESTS = 32;

interface Waiting {
  readonly start: () => void;
  readonly cancel: () => void;
}

/**
 * So many requests at the same time and no more; the others wait their turn, first come, first served. The wait has a limit of
 * its own: a request's own time-out begins only when it is sent. A caller that got an answer continues after the waiting callers have sent theirs: the
 * server works on them meanwhile. So twice as many senders as slots keep both sides at work, where otherwise they take turns.
 */
export class RequestSlots {
  readonly #clock: Clock;
  readonly #waitLimitMs: number;
  /** Insertion order is the order of service. */
  readonly #waiting = new Set<Waiting>();
  #free: number;

  constructor(slots: number, waitLimitMs: number, clock: Clock) {
    this.#free = slots;
    this.#waitLimitMs = waitLimitMs;
    this.#clock = clock;
  }

  /** @throws TransientError `kube.busy` when no slot came free in time */
  async run<T>(subject: RequestSubject, send: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(subject);
    try {
      return await send();
    } finally {
      // The session sends what it was given at the end of a turn.
      if (this.#next()) await nextTurn();
    }
  }

  #turn({ method, path }: RequestSubject): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.schedule(this.#waitLimitMs, () => {
        this.#waiting.delete(waiting);
        const problem = `not sent within ${this.#waitLimitMs} ms: all requests that may be under way at the same time are`;
        reject(new TransientError(problem, { code: 'kube.busy', subject: `${method} ${path}` }));
      });
      const waiting = { start: resolve, cancel };
      this.#waiting.add(waiting);
    });
  }

  /** The slot goes to who waits longest. @returns whether anybody waited */
  #next(): boolean {
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
