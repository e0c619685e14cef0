import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../logger.ts';
import { Backoff } from './backoff.ts';
import { sleep } from './sleep.ts';

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Starts loops and keeps each of them running: a loop that throws is restarted after a back-off,
 * and the others continue.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    // Every loop and every wait adds a listener, which is not a leak.
    setMaxListeners(0, this.#stop.signal);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  start(name: string, loop: (signal: AbortSignal) => Promise<void>): void {
    this.#loops.push(this.#keep(name, loop));
  }

  /** Stops all loops and waits for them. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loops);
  }

  async #keep(name: string, loop: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, random, log } = this.#options;
    const signal = this.#stop.signal;
    const backoff = new Backoff({ initialMs: 500, maxMs: 60_000 }, random);
    while (!signal.aborted) {
      try {
        await loop(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.error('a loop failed and will be started again', { loop: name, error });
        await sleep(clock, backoff.nextMs(), signal);
      }
    }
  }
}
