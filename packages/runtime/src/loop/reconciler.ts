import { BerthError, BugError, ConflictError, InputError, TransientError } from '../errors.ts';
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../logger.ts';
import { Backoff, type BackoffLimits } from './backoff.ts';
import { WorkQueue } from './work-queue.ts';

/** The result of a pass for one key. Each pass reads the current state; a key has no state. */
export type ReconcileOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeue'; readonly afterMs: number }
  /** Not finished, which is not an error: retried with growing delay. */
  | { readonly kind: 'retry' /** The longest wait. */; readonly atMostMs?: number };

export const DONE: ReconcileOutcome = { kind: 'done' };
export const RETRY: ReconcileOutcome = { kind: 'retry' };

export interface ReconcilerOptions {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileOutcome>;
  readonly concurrency: number;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly backoff?: BackoffLimits;
  /** Back-off of each retried key. The caller may delete one to reset it. */
  readonly retries?: Map<string, Backoff>;
  /**
   * Retry interval after an InputError, which a user must correct; a change of the object retries
   * sooner. Default 5 min.
   */
  readonly inputRetryMs?: number;
  /**
   * Whether an InputError may disappear without a change of the object, such as a missing right. Such
   * an error is retried with back-off, at most 30 s apart. Default: never.
   */
  readonly isRetryable?: (error: InputError) => boolean;
  readonly onError?: (key: string, error: unknown) => void;
  /** Awaited before each pass; while it is pending, no pass starts. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/**
 * Maximum wait after a retryable InputError, so that a granted right is noticed in this time.
 */
const MAX_RETRYABLE_MS = 30_000;

/**
 * Processes keys until the signal aborts, `concurrency` at a time; one failing key never stops
 * another. Never rejects.
 */
export async function runReconciler(options: ReconcilerOptions, signal: AbortSignal): Promise<void> {
  const stop = (): void => options.queue.close();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const retries = options.retries ?? new Map<string, Backoff>();
  const worker = async (): Promise<void> => {
    for (let key = await options.queue.take(); key !== undefined; key = await options.queue.take()) {
      await options.mayBegin?.(signal);
      const delayMs = signal.aborted ? undefined : await runOnce(options, retries, key, signal);
      options.queue.done(key);
      if (delayMs !== undefined) options.queue.addAfter(key, delayMs);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
}

/**
 * Runs one pass.
 * @returns the wait before the next one; undefined if the key is done
 */
async function runOnce(
  options: ReconcilerOptions,
  retries: Map<string, Backoff>,
  key: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const backoffOfKey = (): Backoff => {
    const backoff =
      retries.get(key) ?? new Backoff(options.backoff ?? { initialMs: 200, maxMs: 60_000 }, options.random);
    retries.set(key, backoff);
    return backoff;
  };
  try {
    const outcome = await options.reconcile(key, signal);
    if (outcome.kind === 'retry') return Math.min(backoffOfKey().nextMs(), outcome.atMostMs ?? Infinity);
    retries.delete(key);
    return outcome.kind === 'requeue' ? outcome.afterMs : undefined;
  } catch (error) {
    if (signal.aborted) return undefined;
    const backoff = backoffOfKey();
    report(options, key, error, backoff.failures);
    return retryDelayMs(error, backoff.nextMs(), options);
  }
}

/** The delay by class of error. */
function retryDelayMs(error: unknown, backoffMs: number, options: ReconcilerOptions): number {
  if (error instanceof TransientError) return Math.max(backoffMs, error.retryAfterMs ?? 0);
  if (!(error instanceof InputError)) return backoffMs;
  if (options.isRetryable?.(error) === true) return Math.min(backoffMs, MAX_RETRYABLE_MS);
  return Math.max(backoffMs, options.inputRetryMs ?? 300_000);
}

function report(options: ReconcilerOptions, key: string, error: unknown, failures: number): void {
  const fields = { reconciler: options.name, key, failures, error };
  // A single conflict is normal.
  if (error instanceof ConflictError && failures < 3) options.log.debug('reconcile lost a race', fields);
  else if (error instanceof BerthError && !(error instanceof BugError))
    options.log.warn('reconcile failed', fields);
  else options.log.error('reconcile failed unexpectedly', fields);
  options.onError?.(key, error);
}

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
