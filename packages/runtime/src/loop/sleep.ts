import type { Clock } from '../clock/clock.ts';

/** Resolves after `delayMs`, or when the signal aborts if that is earlier. Never rejects. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.schedule(delayMs, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

/** Calls `act` once when the signal aborts, or immediately if it has aborted already. */
export function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

/**
 * Wakes a loop that waits for work. A call between two waits is not lost: the next wait ends
 * immediately.
 */
export class WakeUp {
  #called = false;
  #resume: () => void = () => undefined;

  call(): void {
    this.#called = true;
    this.#resume();
  }

  /** Resolves when it is called, or was called since the last wait, or when the signal aborts. Never rejects. */
  wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#called = false;
        this.#resume = () => undefined;
        signal.removeEventListener('abort', finish);
        resolve();
      };
      if (this.#called || signal.aborted) {
        finish();
        return;
      }
      this.#resume = finish;
      signal.addEventListener('abort', finish, { once: true });
    });
  }
}

/** Splits a long computation into short slices, so that it does not block the event loop. */
export class TimeSlices {
  readonly #clock: Clock;
  readonly #lengthMs: number;
  #endsAtMs = 0;

  constructor(clock: Clock, lengthMs: number) {
    this.#clock = clock;
    this.#lengthMs = lengthMs;
    this.begin();
  }

  begin(): void {
    this.#endsAtMs = this.#clock.now() + this.#lengthMs;
  }

  isOver(): boolean {
    return this.#clock.now() >= this.#endsAtMs;
  }
}

/** Callers that wait for conditions. Call `wake` after each change that may fulfil one. */
export class WaitList {
  readonly #waiters = new Set<() => void>();

  /** Resolves when the condition is true, or when the signal aborts. Never rejects. */
  async until(holds: () => boolean, signal: AbortSignal): Promise<void> {
    while (!holds() && !signal.aborted)
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', wake);
          this.#waiters.delete(wake);
          resolve();
        };
        this.#waiters.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
  }

  wake(): void {
    for (const wake of [...this.#waiters]) wake();
  }
}
