/** Many wait until something is so; whoever may have made it so wakes them, and each looks for itself. */
export class WaitList {
  readonly #waiters = new Set<() => void>();

  /** Resolves when it is so, or when the signal aborts; never rejects. */
  async until(isSo: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isSo() && !signal.aborted)
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
