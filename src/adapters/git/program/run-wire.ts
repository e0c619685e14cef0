import path from 'node:path';
import { simpleGit } from 'simple-git';
import { TransientError } from '../../../core/errors.ts';
import { childGroups } from '../../../runtime/child-groups.ts';
import { killGroup } from '../../../runtime/kill-group.ts';
import { gitFailure } from '../repository/git-failure.ts';
import type { GitRun } from './run-git.ts';

/**
 * Starts git as the leader of a process group and says on stderr which, because simple-git can neither start a process in a
 * group of its own nor report its id. `exec` keeps the id, so that the shell's is the group's. What git writes is the owner's alone.
 */
const GROUP_SCRIPT = `umask 077
echo "berth-group $$" >&2
command -v setsid >/dev/null 2>&1 && exec setsid git "$@"
exec perl -e 'setpgrp(0, 0); exec { $ARGV[0] } @ARGV or exit 127' git "$@"
`;
export const GROUP_SCRIPT_FILE = { name: 'berth-group.sh', text: GROUP_SCRIPT } as const;

const DEFAULT_SILENCE_MS = 120_000;
/** Progress and messages of a fetch are a few hundred lines; a server that sends more is not to fill our memory. */
const MAX_OUTPUT_BYTES = 8 * 1024 ** 2;
const KILL_AFTER_MS = 2_000;
/** How shells and setsid say that there is no such program. */
const NOT_FOUND = 127;

/**
 * What simple-git guards against when it comes from strangers, and what we set ourselves, each to its closed state
 * (git-environment.ts): no hooks, helpers, prompts or user configuration, one transport, ssh with one key.
 */
const OURS = {
  allowUnsafeConfigPaths: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeSshCommand: true,
  allowUnsafeAskPass: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeHooksPath: true,
  allowUnsafeProtocolOverride: true,
  // A path with blanks counts as unsafe there; it is an argument of its own, no shell splits it.
  allowUnsafeCustomBinary: true,
} as const;

/**
 * Runs one git command that talks to a remote, through simple-git, and resolves when it and the helpers that it started
 * (git-remote-https, ssh) are gone. Aborted, silent too long, too loud or killed: TransientError; refused: what gitFailure says.
 * `run.cwd` must hold GROUP_SCRIPT_FILE.
 */
export async function runWire(run: GitRun): Promise<void> {
  const stopped = (why: string, code: string, cause?: unknown): TransientError =>
    new TransientError(`git ${run.args[0] ?? ''} ${why}`, { code, subject: run.subject, cause });
  if (run.signal?.aborted === true) throw stopped('was stopped before it began', 'git.aborted');
  const group = new WireGroup(run.silenceMs ?? DEFAULT_SILENCE_MS, stopped);
  const onAbort = (): void =>
    group.stop(stopped('was stopped by its caller', 'git.aborted', run.signal?.reason));
  run.signal?.addEventListener('abort', onAbort, { once: true });
  let exitCode: number | null = null;
  const git = simpleGit({
    baseDir: run.cwd,
    binary: ['sh', path.join(run.cwd, GROUP_SCRIPT_FILE.name)],
    // Not on exit: what is still in the pipes would be lost.
    completion: { onClose: true, onExit: false },
    allowEnvironment: Object.keys(run.environment),
    unsafe: OURS,
    // By itself it takes a git that was killed, or failed without a word, for one that succeeded.
    errors: (_error, result) => {
      exitCode = result.exitCode;
      return exitCode === 0 ? undefined : new Error('git failed');
    },
  });
  git.env({ ...run.environment }).outputHandler((_command, stdout, stderr) => group.follow(stdout, stderr));
  try {
    await git.raw([...run.args]);
  } catch (cause) {
    if (group.failure !== undefined) throw group.failure;
    if (exitCode === null) throw stopped('was ended by a signal, or could not be run', 'git.stopped', cause);
    if (exitCode < 0 || exitCode === NOT_FOUND)
      throw stopped('could not be started', 'git.not-started', cause);
    throw gitFailure(group.said(), run.subject);
  } finally {
    group.end();
    run.signal?.removeEventListener('abort', onAbort);
  }
  if (group.failure !== undefined) throw group.failure;
}

/** The process group of one command: listens to it, and stops it. */
class WireGroup {
  readonly #silence: NodeJS.Timeout;
  readonly #stopped: (why: string, code: string) => TransientError;
  #failure: TransientError | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #pid: number | undefined;
  #untrack = (): void => undefined;
  #tail = '';
  #bytes = 0;

  constructor(silenceMs: number, stopped: (why: string, code: string) => TransientError) {
    this.#stopped = stopped;
    const tooSilent = (): void => this.stop(stopped(`said nothing for ${silenceMs} ms`, 'git.silent'));
    this.#silence = setTimeout(tooSilent, silenceMs);
  }

  get failure(): TransientError | undefined {
    return this.#failure;
  }

  /** What git wrote to stderr last. */
  said(): string {
    return this.#tail;
  }

  follow(stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream): void {
    stdout.on('data', (chunk: Buffer) => this.#heard(chunk));
    stderr.on('data', (chunk: Buffer) => {
      this.#heard(chunk);
      this.#tail = (this.#tail + chunk.toString('utf8')).slice(-64 * 1024);
      if (this.#pid === undefined) this.#takePid();
    });
  }

  stop(failure: TransientError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#kill();
  }

  end(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#killTimer);
    this.#untrack();
  }

  #heard(chunk: Buffer): void {
    this.#silence.refresh();
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_OUTPUT_BYTES)
      this.stop(this.#stopped(`said more than ${MAX_OUTPUT_BYTES} bytes`, 'git.stopped'));
  }

  #takePid(): void {
    const match = /^berth-group (\d+)\n/.exec(this.#tail);
    if (match === null) return;
    this.#pid = Number(match[1]);
    this.#untrack = childGroups.track(this.#pid);
    this.#tail = this.#tail.slice(match[0].length);
    // Stopped before it could say who it is.
    if (this.#failure !== undefined) this.#kill();
  }

  /** First asks git to end, so that it removes its lock files. */
  #kill(): void {
    const pid = this.#pid;
    if (pid === undefined) return;
    killGroup(pid, 'SIGTERM');
    this.#killTimer = setTimeout(() => killGroup(pid, 'SIGKILL'), KILL_AFTER_MS);
  }
}
