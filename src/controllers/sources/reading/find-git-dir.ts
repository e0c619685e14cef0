import path from 'node:path';
import { findEnclosingGitDir } from '../../../adapters/git/repository/git-dir.ts';
import { InputError } from '../../../core/errors.ts';

export interface FoundRepository {
  /** What GIT_DIR has to be. */
  readonly gitDir: string;
  /** Path of the folder inside the repository, '' at its top. */
  readonly below: string;
}

/** The repository that a folder is in. InputError `git.not-a-repository`. */
export async function findGitDir(folder: string): Promise<FoundRepository> {
  const found = await findEnclosingGitDir(folder);
  if (found === undefined)
    throw new InputError('is not inside a Git repository', {
      code: 'git.not-a-repository',
      subject: folder,
      hint: 'name a folder of a repository, or leave the ref out to read the folder as it is',
    });
  const below = path.relative(found.top, path.resolve(folder)).split(path.sep).join('/');
  return { gitDir: found.gitDir, below };
}
