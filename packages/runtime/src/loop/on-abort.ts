/** Calls `act` once when the signal aborts, or immediately if it has aborted already. */
export function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}
