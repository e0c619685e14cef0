import type { Clock } from '@berth/runtime/clock/clock';
import { sleep } from '@berth/runtime/loop/sleep';

/**
 * The sources that have not been attempted since the start. Decisions that need all of them wait here, for a limited
 * time.
 */
export class FirstReads {
  readonly #clock: Clock;
  readonly #unread: Set<string>;
  readonly #wakes = new Set<() => void>();

  constructor(clock: Clock, sources: readonly string[]) {
    this.#clock = clock;
    this.#unread = new Set(sources);
  }

  /** The source was read or could not be read, so nothing waits for it any more. */
  attempted(source: string): void {
    this.#unread.delete(source);
    if (this.#unread.size > 0) return;
    for (const wake of this.#wakes) wake();
    this.#wakes.clear();
  }

  get waitingFor(): readonly string[] {
    return [...this.#unread];
  }

  /** Resolves when every source was read or failed, after the time limit, or when aborted. */
  async whenOver(patienceMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#unread.size === 0 || signal?.aborted === true) return;
    const done = new AbortController();
    const wake = (): void => done.abort();
    this.#wakes.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
    await sleep(this.#clock, patienceMs, done.signal);
    signal?.removeEventListener('abort', wake);
    this.#wakes.delete(wake);
  }
}
