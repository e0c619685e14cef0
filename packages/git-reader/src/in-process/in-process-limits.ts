import fs, { type MakeDirectoryOptions } from 'node:fs';
import path from 'node:path';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import { needsGitProgram } from '../program/git-program.ts';

/** Files whose presence means that parts of the repository are stored elsewhere. */
const ELSEWHERE = [
  ['commondir', 'a linked work tree'],
  ['objects/info/alternates', 'a repository that borrows objects from another one'],
] as const;

const { mkdir, readFile, writeFile } = fs.promises;

/**
 * Rejects repositories that isomorphic-git would read as empty or damaged.
 * @throws InputError `git.needs-program`
 */
export async function requireReadable(gitDir: string): Promise<void> {
  const subject = `Git repository ${gitDir}`;
  const textOf = (name: string): Promise<string> => readFile(path.join(gitDir, name), 'utf8').catch(() => '');
  for (const [name, what] of ELSEWHERE)
    if ((await textOf(name)).trim() !== '') throw needsGitProgram(subject, `reading ${what}`);
  const config = await textOf('config');
  const other = /^\s*(objectformat|refstorage)\s*=\s*"?(?!sha1\b|files\b)(\w+)/im.exec(config);
  if (other !== null)
    throw needsGitProgram(subject, `reading a repository with ${other[1] ?? ''} = ${other[2] ?? ''}`);
}

/**
 * Rejects revision expressions other than names: `main~2`, `HEAD^`, `main@{1}`, `:/text`.
 * @throws InputError `git.needs-program`
 */
export function requirePlainRevision(revision: string): void {
  if (/[~^:]|@\{|\.\.|^@$/.test(revision))
    throw needsGitProgram(
      `Git ref ${revision}`,
      'a revision that is not the name of a branch, tag or commit',
      'use the id of the commit',
    );
}

/**
 * The file system for isomorphic-git. Only the owner may read and write the files and folders that
 * it creates, independent of the umask.
 */
export const privateFs = {
  promises: {
    ...fs.promises,
    // isomorphic-git also calls it without arguments, to find out whether it returns a promise.
    readFile: (...given: Parameters<typeof readFile> | []) =>
      given.length === 0 ? Promise.resolve() : readFile(...given),
    mkdir: (path: string, options: MakeDirectoryOptions = {}) =>
      mkdir(path, { ...options, mode: PRIVATE_DIRECTORY_MODE }),
    writeFile: (...[file, data, options]: Parameters<typeof writeFile>) =>
      writeFile(file, data, {
        ...(typeof options === 'string' ? { encoding: options } : options),
        mode: PRIVATE_FILE_MODE,
      }),
  },
};
