import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { InputError, TransientError } from '../../../core/errors.ts';
import { gitEnvironment } from './git-environment.ts';
import { runGit } from './run-git.ts';

type Ambient = Readonly<Record<string, string | undefined>>;

/**
 * Whether there is a git program that can be started. To be asked when something is opened, not when it is used: a git that was
 * installed meanwhile counts from the next opening on. One that is there and fails is there.
 */
export async function hasGitProgram(ambient: Ambient): Promise<boolean> {
  const folders = ambient['PATH']?.split(delimiter) ?? [];
  // Looking is a hundred times cheaper than starting it. What a relative folder means depends on where a program is started.
  return folders.length > 0 && folders.every((folder) => isAbsolute(folder))
    ? isInOneOf(folders)
    : startsGit(ambient);
}

async function isInOneOf(folders: readonly string[]): Promise<boolean> {
  for (const folder of folders)
    try {
      const file = join(folder, 'git');
      await access(file, constants.X_OK);
      if ((await stat(file)).isFile()) return true;
    } catch {
      // The next one may have it.
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

/** InputError `git.needs-program`; `otherwise` is what can be done instead of installing git. */
export function needsGitProgram(subject: string, what: string, otherwise?: string): InputError {
  return new InputError(`${what} needs the git program, which is not installed`, {
    code: 'git.needs-program',
    subject,
    hint: otherwise === undefined ? 'install git' : `install git, or ${otherwise}`,
  });
}
