import type { Clock } from '../clock/clock.ts';

/** Maximum delay of a timer, about 25 days. A key that is due later is checked again then. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * A work queue as in client-go: a key is queued at most once, is never processed twice at the same
 * time, and is processed again if it was added meanwhile. First in, first out.
 */
export class WorkQueue {
  readonly #clock: Clock;
  /** Served in the order of insertion. */
  readonly #waiting = new Set<string>();
  readonly #active = new Set<string>();
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { readonly dueMs: number; readonly cancel: () => void }>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #idle = new Set<() => void>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of queued and processed keys, without delayed ones. */
  get depth(): number {
    return this.#waiting.size + this.#active.size;
  }

  get delayed(): number {
    return this.#delayed.size;
  }

  add(key: string): void {
    if (this.#closed) return;
    this.#forgetDelay(key);
    if (this.#active.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    this.#dispatch();
  }

  /** Of two delays for a key, the earlier is used. */
  addAfter(key: string, delayMs: number): void {
    if (this.#closed) return;
    const waitMs = Math.min(delayMs, MAX_DELAY_MS);
    const dueMs = this.#clock.now() + waitMs;
    const known = this.#delayed.get(key);
    if (known !== undefined && known.dueMs <= dueMs) return;
    known?.cancel();
    const cancel = this.#clock.schedule(waitMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { dueMs, cancel });
  }

  /** The next key, for which the caller must call `done`; undefined after the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#dispatch();
    });
  }

  done(key: string): void {
    this.#active.delete(key);
    if (this.#again.delete(key)) this.add(key);
    if (this.depth === 0) {
      for (const wake of this.#idle) wake();
      this.#idle.clear();
    }
  }

  /** Resolves when no key is queued or processed. */
  whenIdle(): Promise<void> {
    return this.depth === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.add(resolve));
  }

  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
    if (this.#active.size === 0) for (const wake of this.#idle) wake();
  }

  #forgetDelay(key: string): void {
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
  }

  #dispatch(): void {
    while (this.#takers.length > 0) {
      const [key] = this.#waiting;
      if (key === undefined) return;
      this.#waiting.delete(key);
      this.#active.add(key);
      this.#takers.shift()?.(key);
    }
  }
}
