/**
 * As many calls of one webhook as may be under way at once; the rest wait in order. A webhook that hangs so holds a few connections and
 * a few texts, not one for every request that needs it.
 */
export class CallSlots {
  readonly #capacity: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** @param signal ends the wait. @throws its reason */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#capacity) {
      this.#taken += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const mine = (): void => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(mine), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(mine);
    });
  }

  /** The next one who waits has the slot now. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
