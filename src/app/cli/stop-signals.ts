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
}

/**
 * Listens for SIGINT and SIGTERM. After the first of them the process ends within 10 s, also when a
 * hub does not answer, or when a child process or a thread does not end. The next start completes
 * missing writes, as after a crash.
 */
export function listenForStop(stderr: Pick<NodeJS.WritableStream, 'write'>): StopSignals {
  const [stop, cutOff] = [new AbortController(), new AbortController()];
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
      if (stop.signal.aborted) process.exit(signal === 'SIGINT' ? 130 : 143);
      begin();
    });
  return { stop: stop.signal, cutOff: cutOff.signal };
}
