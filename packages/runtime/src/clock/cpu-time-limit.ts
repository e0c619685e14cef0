/** A thread that has not answered within this time counts as hanging, even if it used no CPU time. */
const MAX_WAIT_MS = 600_000;
/** How often the CPU time is read within the limit. */
const CHECKS_PER_LIMIT = 10;

/**
 * Calls back when a thread of this process exceeds a limit on its CPU time. That is once the process has used `limitMs` of CPU
 * time and at least `limitMs` of wall-clock time have passed; or once ten minutes of wall-clock time (or `limitMs`, if that is
 * more) have passed, whatever CPU time was used.
 *
 * A limit on wall-clock time alone would report a healthy thread on a machine that is busy or was paused. The CPU time is that
 * of all threads, because Node 20 cannot measure one of them: so `limitMs` must be many times what the thread needs.
 *
 * @returns a function that cancels the limit; call it when the thread has answered
 */
export function limitCpuTime(limitMs: number, onExceeded: () => void): () => void {
  const before = process.cpuUsage();
  const maxWaitMs = Math.max(limitMs, MAX_WAIT_MS);
  const stepMs = limitMs / CHECKS_PER_LIMIT;
  // The sum of the steps and not a clock difference: if the process is paused for an hour, only one step is added.
  let passedMs = 0;
  const timer = setInterval(() => {
    passedMs += stepMs;
    const { user, system } = process.cpuUsage(before);
    const usedMs = (user + system) / 1_000;
    if (passedMs < limitMs || (usedMs < limitMs && passedMs < maxWaitMs)) return;
    clearInterval(timer);
    // The answer may have arrived while this thread was busy: the event loop handles messages after timers.
    setImmediate(() => {
      if (!cancelled) onExceeded();
    });
  }, stepMs);
  let cancelled = false;
  return () => {
    cancelled = true;
    clearInterval(timer);
  };
}
