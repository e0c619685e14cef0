import { childProcessGroups } from '@berth/runtime/processes/process-groups';

/** Requests and programs that still run after this time are cancelled. */
const CUT_OFF_AFTER_MS = 3_000;
/** The process always exits after this time. `docker stop` sends SIGKILL after 10 s. */
const EXIT_AFTER_MS = 8_000;

export interface StopSignals {
  /** Aborted on SIGINT or SIGTERM. */
  readonly stop: AbortSignal;
  /** Aborted some seconds later, to cancel operations that are still running. */
  readonly cutOff: AbortSignal;
  /**
   * Lets the process go on for a while after SIGTERM, as kube-apiserver does: others learn meanwhile that it will be gone.
   * @param onSignal called at SIGTERM
   */
  readonly stopLater: (delayMs: number, onSignal: () => void) => void;
}

/**
 * Listens for SIGINT and SIGTERM. After the first of them, and the time of `stopLater`, the process ends within 10 s, also when a
 * hub does not answer, or when a child process or a thread does not end. The next start completes
 * missing writes, as after a crash.
 */
export function listenForStop(stderr: Pick<NodeJS.WritableStream, 'write'>): StopSignals {
  const [stop, cutOff] = [new AbortController(), new AbortController()];
  let later = { delayMs: 0, onSignal: (): void => undefined };
  let isEnding = false;
  const begin = (): void => {
    stop.abort();
    setTimeout(() => {
      childProcessGroups.endAll();
      cutOff.abort();
    }, CUT_OFF_AFTER_MS).unref();
    setTimeout(() => {
      // The command has returned, and only an open handle keeps the process alive.
      if (process.exitCode !== undefined) process.exit();
      stderr.write(
        `error: not stopped after ${EXIT_AFTER_MS / 1_000} s: the process exits with work unfinished\n`,
      );
      process.exit(1);
    }, EXIT_AFTER_MS).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      // The second signal ends the process at once, with the conventional exit code of the signal.
      if (isEnding) process.exit(signal === 'SIGINT' ? 130 : 143);
      isEnding = true;
      // A person at a terminal waits for nobody.
      if (signal === 'SIGINT' || later.delayMs === 0) return begin();
      later.onSignal();
      setTimeout(begin, later.delayMs);
    });
  return {
    stop: stop.signal,
    cutOff: cutOff.signal,
    stopLater: (delayMs, onSignal) => {
      later = { delayMs, onSignal };
    },
  };
}
