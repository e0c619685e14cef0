import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../../core/errors.ts';

/** The Git directory of a work tree, a linked work tree, a folder inside one, or a bare repository. */
export async function locateGitDir(start: string): Promise<string> {
  for (let folder = path.resolve(start); ; folder = path.dirname(folder)) {
    const found = (await asGitDir(path.join(folder, '.git'))) ?? (await asBareRepository(folder));
    if (found !== undefined) return found;
    if (path.dirname(folder) === folder) break;
  }
  throw new InputError('is not inside a Git repository', {
    code: 'git.repository-not-found',
    subject: start,
    hint: 'run it in a clone, or name one with --repo',
  });
}

async function asGitDir(place: string): Promise<string | undefined> {
  const info = await stat(place).catch(() => undefined);
  if (info?.isDirectory() === true) return place;
  if (info?.isFile() !== true) return undefined;
  // Linked work trees and submodules: a file that says where the directory is.
  const target = /^gitdir: (.+)$/m.exec(await readFile(place, 'utf8'))?.[1];
  return target === undefined ? undefined : path.resolve(path.dirname(place), target.trim());
}

async function asBareRepository(folder: string): Promise<string | undefined> {
  for (const part of ['HEAD', 'objects', 'refs'])
    if ((await stat(path.join(folder, part)).catch(() => undefined)) === undefined) return undefined;
  return folder;
}
