import { execFileSync } from 'node:child_process';

/** Files below these paths that are in the repository, or are to be: without what Git ignores. */
export function repositoryFiles(...paths: readonly string[]): readonly string[] {
  return execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...paths])
    .toString('utf8')
    .split('\0')
    .filter((file) => file !== '');
}
