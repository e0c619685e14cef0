import { InputError, TransientError } from '../../../core/errors.ts';
import { gitEnvironment } from './git-environment.ts';
import { runGit } from './run-git.ts';

/**
 * Whether there is a git program that can be started. To be asked when something is opened, not when it is used: a git that was
 * installed meanwhile counts from the next opening on. One that is there and fails is there.
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

/** InputError `git.needs-program`; `otherwise` is what can be done instead of installing git. */
export function needsGitProgram(subject: string, what: string, otherwise?: string): InputError {
  return new InputError(`${what} needs the git program, which is not installed`, {
    code: 'git.needs-program',
    subject,
    hint: otherwise === undefined ? 'install git' : `install git, or ${otherwise}`,
  });
}
