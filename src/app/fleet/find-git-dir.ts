import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../../core/errors.ts';

export interface FoundRepository {
  /** What GIT_DIR has to be. */
  readonly gitDir: string;
  /** Path of the folder inside the repository, '' at its top. */
  readonly below: string;
}

/**
 * The repository that a folder lies in: a `.git` here or further up (a folder, or the file of a linked work tree), or a
 * bare repository. InputError `git.not-a-repository`.
 */
export async function findGitDir(folder: string): Promise<FoundRepository> {
  const start = path.resolve(folder);
  for (let at = start; ; at = path.dirname(at)) {
    const gitDir = await gitDirAt(at);
    if (gitDir !== undefined) return { gitDir, below: path.relative(at, start).split(path.sep).join('/') };
    if (at === path.dirname(at)) break;
  }
  throw new InputError('is not inside a Git repository', {
    code: 'git.not-a-repository',
    subject: folder,
    hint: 'name a folder of a repository, or leave the ref out to read the folder as it is',
  });
}

async function gitDirAt(folder: string): Promise<string | undefined> {
  const dotGit = path.join(folder, '.git');
  const info = await stat(dotGit).catch(() => undefined);
  if (info?.isDirectory() === true) return dotGit;
  if (info?.isFile() === true) {
    const target = /^gitdir: (.+)$/m.exec(await readFile(dotGit, 'utf8'))?.[1];
    return target === undefined ? undefined : path.resolve(folder, target);
  }
  const [head, objects] = await Promise.all(
    ['HEAD', 'objects'].map((name) => stat(path.join(folder, name)).catch(() => undefined)),
  );
  return head?.isFile() === true && objects?.isDirectory() === true ? folder : undefined;
}
