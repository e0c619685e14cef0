/** What neither answers nor works for so long hangs. */
const HANGING_MS = 600_000;
const LOOKS = 10;

/**
 * Calls back once this process has had the processor for `limitMs`, and no sooner than `limitMs` from now: what a thread of ours has
 * not done within is out of bounds on a machine of any speed. A limit on time alone blames the thread for a machine that others keep
 * busy, or that was paused. The other threads' work counts too, since Node 20 cannot separate them: so the limit must be many
 * times what a thread needs.
 *
 * @returns to be called when it is done
 */
export function afterCpuTime(limitMs: number, onOver: () => void): () => void {
  const before = process.cpuUsage();
  const hangingMs = Math.max(limitMs, HANGING_MS);
  const stepMs = limitMs / LOOKS;
  // Counted and not measured: of an hour in which the process was stopped, one step counts.
  let passedMs = 0;
  const timer = setInterval(() => {
    passedMs += stepMs;
    const { user, system } = process.cpuUsage(before);
    const usedMs = (user + system) / 1_000;
    if (passedMs < limitMs || (usedMs < limitMs && passedMs < hangingMs)) return;
    clearInterval(timer);
    // The answer may have come in while this thread was busy, and wait behind the timers.
    setImmediate(() => {
      if (!cancelled) onOver();
    });
  }, stepMs);
  let cancelled = false;
  return () => {
    cancelled = true;
    clearInterval(timer);
  };
}
