import { uptime } from 'node:os';
import type { SleepingClock } from './clock.ts';

/**
 * The machine's clock. Timers are monotonic: a jump of the wall clock does not move them. Linux stops the monotonic time while
 * the machine sleeps, and counts on in /proc/uptime (CLOCK_BOOTTIME).
 */
export const systemClock: SleepingClock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sinceBootMs: () => uptime() * 1_000,
  schedule: (delayMs, callback) => startTimer(delayMs, callback, true),
};

/** The same clock, whose timers do not keep the process alive. */
export const backgroundClock: SleepingClock = {
  ...systemClock,
  schedule: (delayMs, callback) => startTimer(delayMs, callback, false),
};

const MAX_TIMER_MS = 2_147_483_647;

function startTimer(delayMs: number, callback: () => void, holdsProcess: boolean): () => void {
  // Node fires a timer of more than 2^31-1 ms at once, so it is split into steps.
  let timer: NodeJS.Timeout;
  let remainingMs = Math.max(0, delayMs);
  const arm = (): void => {
    const stepMs = Math.min(remainingMs, MAX_TIMER_MS);
    remainingMs -= stepMs;
    timer = setTimeout(remainingMs > 0 ? arm : callback, stepMs);
    if (!holdsProcess) timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}
