import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { TransientError } from '../../../core/errors.ts';
import type { BerthError } from '../../../core/errors.ts';
import { childGroups } from '../../../runtime/child-groups.ts';
import { killGroup } from '../../../runtime/kill-group.ts';
import { gitFailure } from '../repository/git-failure.ts';
import { withPrivateUmask } from './private-umask.ts';

export interface GitRun {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Existing directory to run in; git works on GIT_DIR. */
  readonly cwd: string;
  /** What the failure is about: a URL, a commit. */
  readonly subject: string;
  readonly signal?: AbortSignal | undefined;
  /** Give up when git says nothing for so long. */
  readonly silenceMs?: number | undefined;
  /** Stop git when it writes more than this. */
  readonly maxStdoutBytes?: number | undefined;
  /** Whatever else wants the processor goes first. */
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

const DEFAULT_SILENCE_MS = 120_000;
/** Less than the longest text that Node.js can hold. */
const MAX_STDOUT_BYTES = 256 * 1024 ** 2;
/** Progress and messages of a fetch are a few hundred lines; a server that sends more is not to keep us listening. */
const MAX_STDERR_BYTES = 8 * 1024 ** 2;
/** What is kept of stderr: its end. */
const KEPT_STDERR_BYTES = 64 * 1024;
/** Between asking git to end, so that it removes its lock files, and ending it. */
const KILL_AFTER_MS = 2_000;

/**
 * Runs one git command to its end. A failing command is a value; being aborted, silent too long or too loud is a
 * TransientError. Git starts helpers of its own (git-remote-https, ssh) that outlive it when only git is stopped, so each
 * command leads a process group and the whole group is stopped.
 */
export function runGit(run: GitRun): Promise<GitResult> {
  const stopped = (why: string, code: string, cause?: unknown): TransientError =>
    new TransientError(`git ${run.args[0] ?? ''} ${why}`, { code, subject: run.subject, cause });
  return new Promise((resolve, reject) => {
    if (run.signal?.aborted === true) return reject(stopped('was stopped before it began', 'git.aborted'));
    const git = withPrivateUmask(() =>
      spawn('git', run.args, {
        cwd: run.cwd,
        env: { ...run.environment },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      }),
    );
    const untrack = childGroups.track(git.pid);
    if (run.inBackground === true) giveWay(git.pid);
    let failure: TransientError | undefined;
    let killTimer: NodeJS.Timeout | undefined;
    const stop = (error: TransientError): void => {
      if (failure !== undefined) return;
      failure = error;
      killGroup(git.pid, 'SIGTERM');
      killTimer = setTimeout(() => killGroup(git.pid, 'SIGKILL'), KILL_AFTER_MS);
    };
    const onAbort = (): void => stop(stopped('was stopped by its caller', 'git.aborted', run.signal?.reason));
    run.signal?.addEventListener('abort', onAbort, { once: true });
    const silenceMs = run.silenceMs ?? DEFAULT_SILENCE_MS;
    const silence = setTimeout(
      () => stop(stopped(`said nothing for ${silenceMs} ms`, 'git.silent')),
      silenceMs,
    );
    const maxBytes = run.maxStdoutBytes ?? MAX_STDOUT_BYTES;
    const stdout = collect(git.stdout, Infinity, (bytes) => {
      silence.refresh();
      // What it still has to say may have no end.
      if (bytes > maxBytes) stop(stopped(`wrote more than ${maxBytes} bytes`, 'git.too-loud'));
    });
    const stderr = collect(git.stderr, KEPT_STDERR_BYTES, (bytes) => {
      silence.refresh();
      if (bytes > MAX_STDERR_BYTES) stop(stopped(`said more than ${MAX_STDERR_BYTES} bytes`, 'git.stopped'));
    });
    const finish = (settle: () => void): void => {
      clearTimeout(silence);
      clearTimeout(killTimer);
      untrack();
      run.signal?.removeEventListener('abort', onAbort);
      settle();
    };
    git.once('error', (cause) =>
      finish(() => reject(stopped('could not be started', 'git.not-started', cause))),
    );
    git.once('close', (exitCode, signal) =>
      finish(() => {
        if (failure !== undefined) return reject(failure);
        if (signal !== null) return reject(stopped(`was ended by ${signal}`, 'git.stopped'));
        if (exitCode === 0) return resolve({ ok: true, stdout: stdout.text() });
        const said = stderr.text();
        resolve({
          ok: false,
          exitCode: exitCode ?? 1,
          stdout: stdout.text(),
          stderr: said,
          error: gitFailure(said, run.subject),
        });
      }),
    );
  });
}

/** Runs one git command that is expected to succeed; throws what its failure means. */
export async function runGitOrThrow(run: GitRun): Promise<string> {
  const result = await runGit(run);
  if (!result.ok) throw result.error;
  return result.stdout;
}

/** What git starts from here on does the same. */
function giveWay(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended, or the system does not let us: then it runs like everything else.
  }
}

/**
 * Collects the end of a stream, at least `keptBytes` of it: progress comes first, what went wrong comes last.
 * `onLength` is called with the bytes so far, and may stop the writer.
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
