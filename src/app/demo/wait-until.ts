import { TransientError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';

/** The result of a check: done, or what is missing. */
export type CheckResult = { readonly done: true } | { readonly done: false; readonly missing: string };

const CHECK_INTERVAL_MS = 100;

/**
 * Repeats a check until it succeeds.
 * @param what the subject of the error
 * @throws TransientError with the last result after `timeoutMs`; the signal's reason when aborted
 */
export async function waitUntil(
  what: string,
  check: () => Promise<CheckResult>,
  options: { readonly clock: Clock; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<void> {
  const { clock, signal, timeoutMs } = options;
  const deadlineMs = clock.now() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const result = await check();
    if (result.done) return;
    if (clock.now() >= deadlineMs)
      throw new TransientError(`not reached after ${timeoutMs / 1000} s: ${result.missing}`, {
        code: 'demo.timeout',
        subject: what,
      });
    await new Promise<void>((resolve) => {
      clock.schedule(CHECK_INTERVAL_MS, resolve);
    });
  }
}
