import { TransientError } from '../errors.ts';
import type { Backoff } from './backoff.ts';
import { type ReconcileOutcome, type ReconcilerOptions, runReconciler } from './reconciler.ts';
import { WorkQueue } from './work-queue.ts';

export interface ReconcileLoopOptions extends Omit<ReconcilerOptions, 'queue' | 'retries'> {
  /**
   * A pass that takes longer counts as failed, and its worker continues. It must be safe if the
   * pass ends later. Default: no limit.
   */
  readonly passLimitMs?: number;
}

/** A reconciler with its own queue. It runs from its construction until it is closed. */
export class ReconcileLoop {
  readonly #queue: WorkQueue;
  readonly #retries = new Map<string, Backoff>();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: ReconcileLoopOptions) {
    this.#queue = new WorkQueue(options.clock);
    const { passLimitMs, reconcile } = options;
    const limited = (key: string, signal: AbortSignal): Promise<ReconcileOutcome> =>
      passLimitMs === undefined
        ? reconcile(key, signal)
        : withinLimit(options, key, passLimitMs, reconcile(key, signal));
    const parts = { ...options, reconcile: limited, queue: this.#queue, retries: this.#retries };
    this.#running = runReconciler(parts, this.#stop.signal);
  }

  /**
   * Adds a key without delay.
   * @param resetBackoff whether to reset the back-off of the key, because the cause of its failures may be gone
   */
  add(key: string, resetBackoff = false): void {
    if (resetBackoff) this.#retries.delete(key);
    this.#queue.add(key);
  }

  /** Of two delays for a key, the earlier is used. */
  addAfter(key: string, delayMs: number): void {
    this.#queue.addAfter(key, delayMs);
  }

  /** Starts no more passes, and waits for the running ones. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

function withinLimit(
  { clock, name }: ReconcileLoopOptions,
  key: string,
  limitMs: number,
  pass: Promise<ReconcileOutcome>,
): Promise<ReconcileOutcome> {
  return new Promise((resolve, reject) => {
    const problem = `the pass of ${name} did not end within ${limitMs} ms`;
    const cancel = clock.schedule(limitMs, () =>
      reject(new TransientError(problem, { code: 'reconcile.too-slow', subject: key })),
    );
    void pass.then(resolve, reject).finally(cancel);
  });
}
