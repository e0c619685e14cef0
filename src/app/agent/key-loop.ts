import { ConflictError, errorText } from '../../core/errors.ts';
import type { Clock, Logger } from '../../core/ports.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { StepOutcome } from './step-outcome.ts';

export interface KeyLoopOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly workers: number;
  readonly step: (key: string, signal: AbortSignal) => Promise<StepOutcome>;
  /** Somebody else wrote in between; what was remembered of the key is not to be trusted. */
  readonly onConflict: (key: string) => void;
}

interface KeyState {
  running: boolean;
  /** Became due again while it ran. */
  again: boolean;
  cancelTimer: (() => void) | undefined;
  backoff: Backoff;
}

/**
 * Runs a step for keys that are due, each key once at a time, several keys at once. A step that is not finished or throws is
 * tried again with growing delay; one key never holds up another.
 */
export class KeyLoop {
  readonly #options: KeyLoopOptions;
  readonly #keys = new Map<string, KeyState>();
  readonly #due: string[] = [];
  readonly #queued = new Set<string>();
  readonly #stop = new AbortController();
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: KeyLoopOptions) {
    this.#options = options;
  }

  /** Due at once. @param news forget the delays of failures: what failed may work now */
  add(key: string, news = false): void {
    if (this.#stop.signal.aborted) return;
    const state = this.#state(key);
    if (news) state.backoff.reset();
    state.cancelTimer?.();
    state.cancelTimer = undefined;
    if (state.running) {
      state.again = true;
      return;
    }
    if (this.#queued.has(key)) return;
    this.#queued.add(key);
    this.#due.push(key);
    this.#start();
  }

  /** Ends the running steps in order; nothing is started any more. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const state of this.#keys.values()) state.cancelTimer?.();
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #state(key: string): KeyState {
    let state = this.#keys.get(key);
    if (state === undefined) {
      const backoff = new Backoff({ initialMs: 50, maxMs: 300_000 }, this.#options.random);
      state = { running: false, again: false, cancelTimer: undefined, backoff };
      this.#keys.set(key, state);
    }
    return state;
  }

  #start(): void {
    while (this.#running < this.#options.workers && !this.#stop.signal.aborted) {
      const key = this.#due.shift();
      if (key === undefined) return;
      this.#queued.delete(key);
      this.#running += 1;
      void this.#run(key, this.#state(key));
    }
  }

  async #run(key: string, state: KeyState): Promise<void> {
    state.running = true;
    state.again = false;
    const outcome = await this.#step(key);
    state.running = false;
    this.#running -= 1;
    if (this.#stop.signal.aborted) {
      if (this.#running === 0) this.#onIdle?.();
      return;
    }
    if (state.again) this.add(key);
    else this.#afterStep(key, state, outcome);
    this.#start();
  }

  async #step(key: string): Promise<StepOutcome> {
    const { step, log, onConflict } = this.#options;
    try {
      return await step(key, this.#stop.signal);
    } catch (error) {
      if (error instanceof ConflictError) onConflict(key);
      // A conflict is the normal way to learn that somebody else was faster.
      if (error instanceof ConflictError) log.debug('changed in between, again', { key });
      else if (!this.#stop.signal.aborted)
        log.warn('step failed, again later', { key, problem: errorText(error) });
      return { kind: 'retry' };
    }
  }

  #afterStep(key: string, state: KeyState, outcome: StepOutcome): void {
    if (outcome.kind !== 'retry') state.backoff.reset();
    if (outcome.kind === 'done') {
      this.#keys.delete(key);
      return;
    }
    const delayMs = outcome.kind === 'retry' ? state.backoff.nextMs() : outcome.afterMs;
    // Longer than a timer can hold: look again then.
    const cancel = this.#options.clock.schedule(Math.min(delayMs, 2 ** 31 - 1), () => this.add(key));
    state.cancelTimer = cancel;
  }
}
