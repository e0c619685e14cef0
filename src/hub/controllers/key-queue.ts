import { errorText } from '../../core/errors.ts';
import type { Clock, Logger } from '../../core/ports.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 60_000;

/**
 * Runs a step for one key at a time; a key that arrives while it waits is kept once. A failed step is logged and
 * tried again with growing delays: an error of one object never stops the others.
 */
export class KeyQueue {
  readonly #name: string;
  readonly #step: (key: string) => Promise<void>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, () => void>();
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(
    name: string,
    step: (key: string) => Promise<void>,
    deps: { readonly clock: Clock; readonly log: Logger },
  ) {
    this.#name = name;
    this.#step = step;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#waiting.add(key);
    this.#running ??= this.#run();
  }

  addLater(key: string, delayMs: number): void {
    if (this.#stopped) return;
    this.#timers.get(key)?.();
    const fire = (): void => {
      this.#timers.delete(key);
      this.add(key);
    };
    this.#timers.set(key, this.#clock.schedule(delayMs, fire));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#waiting.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      try {
        await this.#step(key);
        this.#failures.delete(key);
      } catch (error) {
        this.#retry(key, error);
      }
      if (this.#stopped) break;
    }
    this.#running = undefined;
  }

  #retry(key: string, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#log.warn('controller step failed', {
      controller: this.#name,
      key,
      failures,
      error: errorText(error),
    });
    this.addLater(key, Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS));
  }
}
