import { simpleGit } from 'simple-git';
import { TransientError } from '../../core/errors.ts';
import type { BerthError } from '../../core/errors.ts';
import { gitFailure } from './git-failure.ts';

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
}

export type GitResult =
  | { readonly ok: true; readonly stdout: string }
  | { readonly ok: false; readonly exitCode: number; readonly stderr: string; readonly error: BerthError };

const DEFAULT_SILENCE_MS = 120_000;

/** What simple-git guards against when arguments come from outside; ours are fixed, and the settings *are* the hardening. */
const OURS = {
  allowUnsafeSshCommand: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeAskPass: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSubmodule: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeTemplateDir: true,
} as const;

/** Runs one git command to its end. A failing command is a value; being aborted or silent too long is a TransientError. */
export async function runGit(run: GitRun): Promise<GitResult> {
  let exit: { readonly exitCode: number; readonly stderr: string } | undefined;
  const git = simpleGit({
    baseDir: run.cwd,
    allowEnvironment: Object.keys(run.environment),
    unsafe: OURS,
    completion: { onClose: true, onExit: false },
    timeout: { block: run.silenceMs ?? DEFAULT_SILENCE_MS },
    ...(run.signal === undefined ? {} : { abort: run.signal }),
    errors: (error, result) => {
      if (error instanceof Error) return error;
      if (result.exitCode === 0) return undefined;
      // simple-git wraps what is thrown; the exit is taken here, before it is dressed up.
      exit = { exitCode: result.exitCode, stderr: Buffer.concat(result.stdErr).toString('utf8') };
      return new Error(exit.stderr);
    },
  }).env({ ...run.environment });
  try {
    return { ok: true, stdout: await git.raw([...run.args]) };
  } catch (caught) {
    if (exit === undefined)
      throw new TransientError(`git ${run.args[0] ?? ''} was stopped before it ended`, {
        code: run.signal?.aborted === true ? 'git.aborted' : 'git.stopped',
        subject: run.subject,
        cause: caught,
      });
    const { exitCode, stderr } = exit;
    return { ok: false, exitCode, stderr, error: gitFailure(stderr, run.subject) };
  }
}

/** Runs one git command that is expected to succeed; throws what its failure means. */
export async function runGitOrThrow(run: GitRun): Promise<string> {
  const result = await runGit(run);
  if (!result.ok) throw result.error;
  return result.stdout;
}
