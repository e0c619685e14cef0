/** Callers that wait for conditions. `wake` is called after each change that may have fulfilled one. */
export class WaitList {
  readonly #waiters = new Set<() => void>();

  /** Resolves when the condition holds, or when the signal aborts; never rejects. */
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
