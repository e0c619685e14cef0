/**
 * Limits the concurrent calls of one webhook; further calls wait in order. So a webhook that hangs
 * uses only a few connections and request bodies.
 */
export class CallSlots {
  readonly #capacity: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * @param signal ends the wait.
   * @throws its reason
   */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#capacity) {
      this.#taken += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const takeSlot = (): void => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(takeSlot), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(takeSlot);
    });
  }

  /** The slot passes to the next waiter. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
