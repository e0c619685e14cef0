const STEPS = 10;

/**
 * A timeout that counts a pause of this process (suspend, a blocked event loop) as at most a tenth
 * of its time, so that data which arrived meanwhile is read before the peer counts as silent. Node
 * runs due timers before it reads sockets.
 *
 * @param holdsProcess false: the timer does not keep the process alive
 * @returns cancels the timeout
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
