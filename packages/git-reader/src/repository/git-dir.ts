import fs, { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

export interface FoundGitDir {
  /** The value for GIT_DIR. */
  readonly gitDir: string;
  /** The folder that the repository belongs to. */
  readonly top: string;
}

/** Finds the repository that contains a folder, at any depth; undefined if there is none. */
export async function findEnclosingGitDir(folder: string): Promise<FoundGitDir | undefined> {
  for (let top = path.resolve(folder); ; top = path.dirname(top)) {
    const gitDir = await resolveGitDir(top);
    if (gitDir !== undefined) return { gitDir, top };
    if (top === path.dirname(top)) return undefined;
  }
}

/**
 * The `.git` of a work tree, the target of the `.git` file of a linked work tree or submodule, or
 * the folder itself as a bare repository.
 */
export async function resolveGitDir(folder: string): Promise<string | undefined> {
  const dotGit = path.join(folder, '.git');
  const info = await infoOf(dotGit);
  if (info?.isDirectory() === true) return dotGit;
  if (info?.isFile() === true) {
    const target = /^gitdir: (.+)$/m.exec(await readFile(dotGit, 'utf8'))?.[1];
    if (target !== undefined) return path.resolve(folder, target);
  }
  const [head, ...folders] = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => infoOf(path.join(folder, name))),
  );
  return head?.isFile() === true && folders.every((part) => part?.isDirectory() === true)
    ? folder
    : undefined;
}

function infoOf(place: string) {
  return stat(place).catch(() => undefined);
}

/** The addresses of the remotes of a repository; none if its configuration cannot be read. */
export async function remoteUrls(gitDir: string): Promise<readonly string[]> {
  // Loaded here, because most commands need no Git library.
  const { default: git } = await import('isomorphic-git');
  const remotes = await git.listRemotes({ fs: { promises: fs }, gitdir: gitDir }).catch(() => []);
  return remotes.map(({ url }) => url);
}
