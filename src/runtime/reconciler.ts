import { BerthError, BugError, ConflictError, InputError, TransientError } from '../core/errors.ts';
import type { Clock, Logger } from '../core/ports.ts';
import { Backoff, type BackoffLimits } from './backoff.ts';
import type { WorkQueue } from './work-queue.ts';

/** What becomes of a key after one pass. State is read fresh in each pass; a key carries no state. */
export type ReconcileOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeue'; readonly afterMs: number }
  /** Not finished, which is no error: again soon, with growing delay. */
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
  /** Of each key that is retried. The caller may delete one, whose failures are then forgotten. */
  readonly retries?: Map<string, Backoff>;
  /** What only a user can correct is looked at again this often; a change of the object comes sooner. Default 5 min. */
  readonly inputRetryMs?: number;
  /** Whether an InputError may pass without a change of the object, as a missing right does. Default: never. */
  readonly mayPass?: (error: InputError) => boolean;
  readonly onError?: (key: string, error: unknown) => void;
  /** Waited for before each pass, with its key in hand: while it does not resolve, nothing is begun. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** The longest wait after an error that may pass. A user who grants a missing right waits no longer than this. */
const MAX_PASSING_MS = 30_000;

/** Works on keys until the signal aborts, `concurrency` at a time; one failing key never stops another. Never rejects. */
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

/** One pass; the wait before the next one, or undefined when the key is done. */
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

/** The one place where an error's class becomes a time. */
function retryDelayMs(error: unknown, backoffMs: number, options: ReconcilerOptions): number {
  if (error instanceof TransientError) return Math.max(backoffMs, error.retryAfterMs ?? 0);
  if (!(error instanceof InputError)) return backoffMs;
  if (options.mayPass?.(error) === true) return Math.min(backoffMs, MAX_PASSING_MS);
  return Math.max(backoffMs, options.inputRetryMs ?? 300_000);
}

function report(options: ReconcilerOptions, key: string, error: unknown, failures: number): void {
  const fields = { reconciler: options.name, key, failures, error };
  // Losing a race once is normal life.
  if (error instanceof ConflictError && failures < 3) options.log.debug('reconcile lost a race', fields);
  else if (error instanceof BerthError && !(error instanceof BugError))
    options.log.warn('reconcile failed', fields);
  else options.log.error('reconcile failed unexpectedly', fields);
  options.onError?.(key, error);
}
