import { childGroups } from '../../runtime/child-groups.ts';

/** How long what is under way has to end by itself. */
const CUT_OFF_AFTER_MS = 3_000;
/** After this long a command that was told to stop is ended. Whoever sent the signal waits 10 s, as docker stop does. */
const EXIT_AFTER_MS = 8_000;

export interface StopSignals {
  /** Aborted on SIGINT or SIGTERM. */
  readonly stop: AbortSignal;
  /** Aborted some seconds later, when what is still under way is to be given up. */
  readonly cutOff: AbortSignal;
}

/**
 * Listens for SIGINT and SIGTERM. A process that was told to stop ends within 10 s, whatever hangs: a hub that does not answer, a
 * program that it started, a thread. What it was told to write down before is on disk; what is lost is found again at the next start.
 */
export function listenForStop(stderr: Pick<NodeJS.WritableStream, 'write'>): StopSignals {
  const [stop, cutOff] = [new AbortController(), new AbortController()];
  const begin = (): void => {
    stop.abort();
    setTimeout(() => {
      childGroups.endAll();
      cutOff.abort();
    }, CUT_OFF_AFTER_MS).unref();
    setTimeout(() => {
      // The command is done, and only something that it opened is left.
      if (process.exitCode !== undefined) process.exit();
      stderr.write(
        `error: not stopped after ${EXIT_AFTER_MS / 1_000} s, ended in the middle of what hangs\n`,
      );
      process.exit(1);
    }, EXIT_AFTER_MS).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      // The second Ctrl-C means it: leave at once with the signal's usual code.
      if (stop.signal.aborted) process.exit(signal === 'SIGINT' ? 130 : 143);
      begin();
    });
  return { stop: stop.signal, cutOff: cutOff.signal };
}
