import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { peerProgram } from './peer-programs.ts';

export interface PeerOptions {
  readonly args: readonly string[];
  /** Receives the standard output and standard error. */
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface PeerProcess {
  /**
   * Waits until `ready` holds.
   * @throws Error with the end of the log when the program ends before that, or after two minutes
   */
  until(ready: () => Promise<boolean>): Promise<void>;
  /** Ends the program and waits for its end: SIGTERM, after 5 s SIGKILL. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** To the program, which goes on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
}

const TERMINATION_MS = 5000;
const POLL_MS = 100;
const READY_MS = 120_000;

/**
 * Runs a program until it ends, or until standard input does: that also happens when the test is killed, so nothing
 * that it started stays behind.
 */
const GUARD = `
exec 3<&0
"$@" <&- 3<&- &
program=$!
(cat <&3; kill "$program") >/dev/null 2>&1 &
wait "$program"`;

/** Starts a built program as a child of the test. */
export function startPeer(name: string, { args, logFile, env }: PeerOptions): PeerProcess {
  const log = createWriteStream(logFile);
  const child = spawn('sh', ['-c', GUARD, 'sh', peerProgram(name), ...args], {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const ended = once(child, 'close').then(() => log.end());
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    async until(ready) {
      const untilMs = performance.now() + READY_MS;
      while (!(await ready().catch(() => false))) {
        const problem = isRunning() ? 'is not ready after two minutes' : 'ended early';
        if (!isRunning() || performance.now() > untilMs)
          throw new Error(`${name} ${problem}: ${readFileSync(logFile, 'utf8').slice(-2000)}`);
        // fixed wait: the pace of a poll
        await pause(POLL_MS);
      }
    },
    async stop() {
      child.stdin.end();
      const forced = setTimeout(() => signalGroup(child, 'SIGKILL'), TERMINATION_MS);
      await ended;
      clearTimeout(forced);
    },
    async kill() {
      signalGroup(child, 'SIGKILL');
      await ended;
    },
    signal: (signal) => signalGroup(child, signal),
  };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    // It has ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
