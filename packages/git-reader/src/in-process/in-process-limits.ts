import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { needsGitProgram } from '../program/git-program.ts';

/** Files whose presence means that parts of the repository are stored elsewhere. */
const ELSEWHERE = [
  ['commondir', 'a linked work tree'],
  ['objects/info/alternates', 'a repository that borrows objects from another one'],
] as const;

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
