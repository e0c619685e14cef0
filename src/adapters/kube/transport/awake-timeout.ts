const STEPS = 10;

/**
 * Calls back after so long, of which a time in which this process did not get on counts as one step in ten: what came in meanwhile
 * is to be read before anybody is blamed for having said nothing. Node runs timers that are due before it reads.
 *
 * @param holdsProcess false: the process may end before
 * @returns to be called when it is done
 */
export function startAwakeTimeout(ms: number, onOver: () => void, holdsProcess = true): () => void {
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
