import type { Clock } from '@berth/runtime/clock/clock';

/** setTimeout takes no more than this; longer waits are made of several. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. Its timers never keep the process alive on their own. */
export const REAL_CLOCK: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    let timer: NodeJS.Timeout;
    let leftMs = Math.max(0, delayMs);
    const arm = (): void => {
      const stepMs = Math.min(leftMs, MAX_TIMER_MS);
      leftMs -= stepMs;
      timer = setTimeout(() => (leftMs > 0 ? arm() : callback()), stepMs);
      timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
};
