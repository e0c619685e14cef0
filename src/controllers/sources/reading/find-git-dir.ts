import path from 'node:path';
import { findEnclosingGitDir } from '@berth/git-reader/repository/git-dir';
import { InputError } from '@berth/runtime/errors';

export interface FoundRepository {
  /** The value for GIT_DIR. */
  readonly gitDir: string;
  /** The path of the folder inside the repository; '' at its root. */
  readonly below: string;
}

/**
 * Finds the repository that contains a folder.
 * @throws InputError `git.not-a-repository`
 */
export async function findGitDir(folder: string): Promise<FoundRepository> {
  const found = await findEnclosingGitDir(folder);
  if (found === undefined)
    throw new InputError('is not inside a Git repository', {
      code: 'git.not-a-repository',
      subject: folder,
      hint: 'name a folder inside a repository, or omit the ref to read the folder as it is',
    });
  const below = path.relative(found.top, path.resolve(folder)).split(path.sep).join('/');
  return { gitDir: found.gitDir, below };
}
