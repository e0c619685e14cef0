import { findEnclosingGitDir } from '../../adapters/git/repository/git-dir.ts';
import { InputError } from '../../core/errors.ts';

/** The Git directory of a work tree, a linked work tree, a folder inside one, or a bare repository. */
export async function locateGitDir(start: string): Promise<string> {
  const found = await findEnclosingGitDir(start);
  if (found !== undefined) return found.gitDir;
  throw new InputError('is not inside a Git repository', {
    code: 'git.repository-not-found',
    subject: start,
    hint: 'run it in a clone, or name one with --repo',
  });
}
