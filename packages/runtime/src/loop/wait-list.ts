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
