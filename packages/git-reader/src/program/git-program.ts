import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { InputError, TransientError } from '@berth/runtime/errors';
import { gitEnvironment } from './git-environment.ts';
import { runGit } from './run-git.ts';

type Ambient = Readonly<Record<string, string | undefined>>;

/**
 * Whether there is a git program that can be started. Call it when a repository is opened, not for
 * each use, so that a git installed later is used from the next opening. A git program that fails
 * counts as present.
 */
export async function hasGitProgram(ambient: Ambient): Promise<boolean> {
  const folders = ambient['PATH']?.split(delimiter) ?? [];
  // A search is much cheaper than a process. A relative folder in PATH depends on the working directory, so git is started.
  return folders.length > 0 && folders.every((folder) => isAbsolute(folder))
    ? hasGitIn(folders)
    : startsGit(ambient);
}

async function hasGitIn(folders: readonly string[]): Promise<boolean> {
  for (const folder of folders)
    try {
      const file = join(folder, 'git');
      await access(file, constants.X_OK);
      if ((await stat(file)).isFile()) return true;
    } catch {
      // The next folder may contain it.
    }
  return false;
}

async function startsGit(ambient: Ambient): Promise<boolean> {
  try {
    const environment = gitEnvironment({ gitDir: '/nonexistent', ambient });
    await runGit({ args: ['--version'], environment, cwd: '/', subject: 'git program' });
    return true;
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: unknown } };
    return !(error instanceof TransientError && error.code === 'git.not-started' && cause?.code === 'ENOENT');
  }
}

/**
 * The error `git.needs-program`.
 * @param otherwise an alternative to installing git, for the hint
 */
export function needsGitProgram(subject: string, what: string, otherwise?: string): InputError {
  return new InputError(`${what} needs the git program, which is not installed`, {
    code: 'git.needs-program',
    subject,
    hint: otherwise === undefined ? 'install git' : `install git, or ${otherwise}`,
  });
}
