import { TransientError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';

/** What a check found: done, or what is still missing. */
export type CheckResult = { readonly done: true } | { readonly done: false; readonly missing: string };

const PRESENCE_CHECK_INTERVAL_MS = 100;

/**
 * Looks until the thing is so.
 * @throws TransientError naming what was missing at the last look, after `timeoutMs`; the signal's reason when aborted
 */
export async function waitUntil(
  what: string,
  look: () => Promise<CheckResult>,
  options: { readonly clock: Clock; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<void> {
  const { clock, signal, timeoutMs } = options;
  const deadlineMs = clock.now() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const finding = await look();
    if (finding.done) return;
    if (clock.now() >= deadlineMs)
      throw new TransientError(`not reached after ${timeoutMs / 1000} s: ${finding.missing}`, {
        code: 'demo.timeout',
        subject: what,
      });
    await new Promise<void>((resolve) => {
      clock.schedule(PRESENCE_CHECK_INTERVAL_MS, resolve);
    });
  }
}
