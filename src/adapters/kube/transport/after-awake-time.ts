const STEPS = 10;

/**
 * Calls back after a time. A period in which this process did not run counts as one of ten steps: data that arrived
 * meanwhile must be read before a peer counts as silent. Node.js runs due timers before it reads.
 *
 * @param holdsProcess false: the process may exit before
 * @returns a function that cancels it
 */
export function afterAwakeTime(ms: number, onOver: () => void, holdsProcess = true): () => void {
  let left = STEPS;
  const step = (): void => {
    if (left === 0) return onOver();
    left -= 1;
    timer = setTimeout(step, ms / STEPS);
    if (!holdsProcess) timer.unref();
  };
  let timer: NodeJS.Timeout | undefined;
  step();
  return () => clearTimeout(timer);
}
