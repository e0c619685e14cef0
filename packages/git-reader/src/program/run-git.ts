import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { type BerthError, TransientError } from '@berth/runtime/errors';
import { childProcessGroups, killGroup } from '@berth/runtime/processes/process-groups';
import { gitFailure } from '../repository/git-failure.ts';

export interface GitRun {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** An existing directory to run in. git uses GIT_DIR. */
  readonly cwd: string;
  /** Subject of errors: a URL, a commit. */
  readonly subject: string;
  readonly signal?: AbortSignal | undefined;
  /** Stop git when it runs for longer than this. Absent: there is no limit. */
  readonly timeoutMs?: number | undefined;
  /** Stop git when it writes nothing to stdout and stderr for this long. */
  readonly idleTimeoutMs?: number | undefined;
  /** Stop git when it writes more than this to stdout. */
  readonly maxStdoutBytes?: number | undefined;
  /** Run with the lowest CPU priority. */
  readonly inBackground?: boolean | undefined;
}

export type GitResult =
  | { readonly ok: true; readonly stdout: string }
  | {
      readonly ok: false;
      readonly exitCode: number;
      readonly stdout: string;
      readonly stderr: string;
      readonly error: BerthError;
    };

/** Only the end of stderr is kept. */
const KEPT_STDERR_BYTES = 64 * 1024;
/** Time between SIGTERM, on which git removes its lock files, and SIGKILL. */
const KILL_AFTER_MS = 2_000;

/**
 * Runs one git command to its end. A command that exits with an error is a value. Git starts child processes
 * (git-remote-https, ssh) that keep running when only git is stopped, so each command leads a process group, and the
 * whole group is stopped.
 * @throws TransientError `git.aborted` (by `signal`), `git.timeout`, `git.silent` (idle timeout), `git.output-limit`
 * (stdout or stderr), `git.stopped` (a signal of another process) or `git.not-started`
 */
export function runGit(run: GitRun): Promise<GitResult> {
  const failed = (problem: string, code: string, cause?: unknown): TransientError =>
    new TransientError(`git ${run.args[0] ?? ''} ${problem}`, { code, subject: run.subject, cause });
  return new Promise((resolve, reject) => {
    if (run.signal?.aborted === true) return reject(failed('was aborted before it started', 'git.aborted'));
    const git = withPrivateUmask(() =>
      spawn('git', run.args, {
        cwd: run.cwd,
        env: { ...run.environment },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      }),
    );
    const untrack = childProcessGroups.track(git.pid);
    if (run.inBackground === true) lowerPriority(git.pid);
    let failure: TransientError | undefined;
    let killTimer: NodeJS.Timeout | undefined;
    const stop = (problem: string, code: string, cause?: unknown): void => {
      if (failure !== undefined) return;
      failure = failed(problem, code, cause);
      killGroup(git.pid, 'SIGTERM');
      killTimer = setTimeout(() => killGroup(git.pid, 'SIGKILL'), KILL_AFTER_MS);
    };
    const onOutput = stopAtLimits(run, stop);
    const stdout = collect(git.stdout, Infinity, onOutput.stdout);
    const stderr = collect(git.stderr, KEPT_STDERR_BYTES, onOutput.stderr);
    const finish = (settle: () => void): void => {
      onOutput.clear();
      clearTimeout(killTimer);
      untrack();
      settle();
    };
    git.once('error', (cause) =>
      finish(() => reject(failed('could not be started', 'git.not-started', cause))),
    );
    git.once('close', (exitCode, signal) =>
      finish(() => {
        if (failure !== undefined) return reject(failure);
        if (signal !== null) return reject(failed(`was ended by ${signal}`, 'git.stopped'));
        if (exitCode === 0) return resolve({ ok: true, stdout: stdout.text() });
        const errorOutput = stderr.text();
        resolve({
          ok: false,
          exitCode: exitCode ?? 1,
          stdout: stdout.text(),
          stderr: errorOutput,
          error: gitFailure(errorOutput, run.subject),
        });
      }),
    );
  });
}

interface OutputLimits {
  /** Called with the number of bytes that git has written to the stream so far. */
  readonly stdout: (bytes: number) => void;
  readonly stderr: (bytes: number) => void;
  /** Removes the timers and the listener, once git has ended. */
  readonly clear: () => void;
}

const DEFAULT_IDLE_TIMEOUT_MS = 120_000;
/** Less than the maximum string length of Node.js. */
const MAX_STDOUT_BYTES = 256 * 1024 ** 2;
/** A fetch writes a few hundred lines of progress and messages. A malicious server could make git write endlessly. */
const MAX_STDERR_BYTES = 8 * 1024 ** 2;

/** Calls `stop` when the command is aborted, runs or stays idle for too long, or writes too much. */
function stopAtLimits(
  { signal, timeoutMs, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS, maxStdoutBytes = MAX_STDOUT_BYTES }: GitRun,
  stop: (problem: string, code: string, cause?: unknown) => void,
): OutputLimits {
  const onAbort = (): void => stop('was aborted', 'git.aborted', signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const timeout =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => stop(`timed out after ${timeoutMs} ms`, 'git.timeout'), timeoutMs);
  const idle = setTimeout(() => stop(`wrote nothing for ${idleTimeoutMs} ms`, 'git.silent'), idleTimeoutMs);
  const limit = (stream: 'stdout' | 'stderr', maxBytes: number) => (bytes: number) => {
    idle.refresh();
    if (bytes > maxBytes) stop(`wrote more than ${maxBytes} bytes to ${stream}`, 'git.output-limit');
  };
  return {
    stdout: limit('stdout', maxStdoutBytes),
    stderr: limit('stderr', MAX_STDERR_BYTES),
    clear: () => {
      clearTimeout(timeout);
      clearTimeout(idle);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/**
 * Runs one git command that is expected to succeed.
 * @throws the error of the result when the command fails, or what `runGit` throws
 */
export async function runGitOrThrow(run: GitRun): Promise<string> {
  const result = await runGit(run);
  if (!result.ok) throw result.error;
  return result.stdout;
}

/** Child processes that git starts afterwards inherit the priority. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The process has ended, or the system refuses the change: then git runs with the usual priority.
  }
}

/**
 * Collects the end of a stream, at least its last `keptBytes`: git writes progress first and its error last.
 * `onLength` is called with the number of bytes received so far, and may stop git.
 */
function collect(stream: NodeJS.ReadableStream, keptBytes: number, onLength: (bytes: number) => void) {
  const chunks: Buffer[] = [];
  let [bytes, kept] = [0, 0];
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    kept += chunk.length;
    for (let [first] = chunks; first && kept - first.length >= keptBytes; [first] = chunks) {
      chunks.shift();
      kept -= first.length;
    }
    onLength(bytes);
  });
  return { text: () => Buffer.concat(chunks).toString('utf8') };
}

/** Files that git writes are accessible to their owner only. */
const PRIVATE_UMASK = 0o077;

/** Starts a program that inherits the umask. Node.js can set it only for the whole process. */
function withPrivateUmask<T>(start: () => T): T {
  // Threads cannot set it. None of our threads starts a git that writes.
  if (!isMainThread) return start();
  const before = process.umask(PRIVATE_UMASK);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}
