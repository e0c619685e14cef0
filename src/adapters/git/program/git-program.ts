import { InputError, TransientError } from '../../../core/errors.ts';
import { gitEnvironment } from './git-environment.ts';
import { runGit } from './run-git.ts';

/**
 * Whether a git program can be started. Ask when something is opened, not when it is used: a git that is installed
 * later is used from the next opening on. A git that exists but fails counts as present.
 */
export async function hasGitProgram(ambient: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  try {
    const environment = gitEnvironment({ gitDir: '/nonexistent', ambient });
    await runGit({ args: ['--version'], environment, cwd: '/', subject: 'git program' });
    return true;
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: unknown } };
    return !(error instanceof TransientError && error.code === 'git.not-started' && cause?.code === 'ENOENT');
  }
}

/** The error `git.needs-program`. `otherwise` says what can be done instead of installing git. */
export function needsGitProgram(subject: string, what: string, otherwise?: string): InputError {
  return new InputError(`${what} needs the git program, which is not installed`, {
    code: 'git.needs-program',
    subject,
    hint: otherwise === undefined ? 'install git' : `install git, or ${otherwise}`,
  });
}
