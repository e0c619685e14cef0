import type { Clock } from '../clock/clock.ts';

/** Resolves after `delayMs`, or when the signal aborts if that is earlier. Never rejects. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.schedule(delayMs, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

/** Calls `act` once when the signal aborts, or immediately if it has aborted already. */
export function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}
