import type { Clock } from '@berth/runtime/clock/clock';

/** Real time, but quicker: every wait of the agent takes a fraction, and steps seconds apart for the agent are not for us. */
export function fastClock(factor: number): Clock {
  const startedAtMs = Date.now();
  return {
    now: () => startedAtMs + (Date.now() - startedAtMs) * factor,
    schedule: (delayMs, callback) => {
      const timer = setTimeout(callback, delayMs / factor);
      return () => clearTimeout(timer);
    },
  };
}
