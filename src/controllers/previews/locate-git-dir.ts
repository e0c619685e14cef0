import { findEnclosingGitDir } from '@berth/git-reader/repository/git-dir';
import { InputError } from '@berth/runtime/errors';

/**
 * The Git directory of a work tree, of a linked work tree, of a folder inside one, or of a bare repository. @throws
 * InputError outside of a repository
 */
export async function locateGitDir(start: string): Promise<string> {
  const found = await findEnclosingGitDir(start);
  if (found !== undefined) return found.gitDir;
  throw new InputError('is not inside a Git repository', {
    code: 'git.repository-not-found',
    subject: start,
    hint: 'run the command in a clone, or name one with --repo',
  });
}
