import { ConflictError, errorText, TransientError } from '../../core/errors.ts';
import type { Clock, Logger } from '../../core/ports.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { WorkQueue } from '../../runtime/work-queue.ts';
import { isRefusal } from '../../core/work/applied/kube-failure.ts';
import type { StepOutcome } from './step-outcome.ts';

export interface KeyLoopOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly workers: number;
  readonly step: (key: string, signal: AbortSignal) => Promise<StepOutcome>;
  /** Another writer was faster; the memory of the key is invalid. */
  readonly onConflict: (key: string) => void;
}

/** Requests have limits of their own; a work of many objects on a slow API may still need minutes. */
const STEP_LIMIT_MS = 300_000;

/** The longest time that a timer can hold; the key is checked again then. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * Runs a step for keys that are due, each key once at a time, several keys at once. A step that is not finished or
 * throws is tried again with growing delay; one key never holds up another. Unlike a reconciler, "not finished" is
 * normal here (objects that wait for their finalizers), and an event of a key resets its failures.
 */
export class KeyLoop {
  readonly #options: KeyLoopOptions;
  readonly #queue: WorkQueue;
  readonly #retries = new Map<string, Backoff>();
  readonly #stop = new AbortController();
  readonly #workers: readonly Promise<void>[];

  constructor(options: KeyLoopOptions) {
    this.#options = options;
    this.#queue = new WorkQueue(options.clock);
    this.#workers = Array.from({ length: options.workers }, () => this.#work());
  }

  /** Due at once. @param news forget the delays of failures: what failed may work now */
  add(key: string, news = false): void {
    if (news) this.#retries.delete(key);
    this.#queue.add(key);
  }

  /** Ends the running steps in order; nothing is started any more. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#queue.close();
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      const outcome = await this.#step(key);
      this.#queue.done(key);
      if (outcome.kind === 'retry') this.#queue.addAfter(key, this.#retry(key).nextMs());
      else this.#retries.delete(key);
      if (outcome.kind === 'later') this.#queue.addAfter(key, Math.min(outcome.afterMs, LONGEST_DELAY_MS));
    }
  }

  async #step(key: string): Promise<StepOutcome> {
    const { step, log, onConflict } = this.#options;
    try {
      return await this.#inTime(key, step(key, this.#stop.signal));
    } catch (error) {
      // A deletion counts as a change: the object may have been deleted right after our write.
      if (error instanceof ConflictError || isRefusal(error, 'notfound')) onConflict(key);
      // A conflict is the normal way to learn of another writer.
      if (error instanceof ConflictError) log.debug('changed in between, again', { key });
      else if (!this.#stop.signal.aborted)
        log.warn('step failed, again later', { key, problem: errorText(error) });
      return { kind: 'retry' };
    }
  }

  /** A step that hangs must not hold its worker forever; every write carries its precondition, so a late one does no harm. */
  #inTime(key: string, step: Promise<StepOutcome>): Promise<StepOutcome> {
    return new Promise((resolve, reject) => {
      const cancel = this.#options.clock.schedule(STEP_LIMIT_MS, () =>
        reject(
          new TransientError(`did not end within ${STEP_LIMIT_MS} ms`, { code: 'agent.step', subject: key }),
        ),
      );
      void step.then(resolve, reject).finally(cancel);
    });
  }

  #retry(key: string): Backoff {
    let backoff = this.#retries.get(key);
    if (backoff === undefined) {
      backoff = new Backoff({ initialMs: 50, maxMs: 300_000 }, this.#options.random);
      this.#retries.set(key, backoff);
    }
    return backoff;
  }
}
