import { readFile, writeFile } from 'node:fs/promises';
import path, { join } from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';

/** What a shallow clone needs. A fetch of the whole history alone would still miss the other branches. */
export const WHOLE_HISTORY =
  "fetch the whole history: git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*' (GitHub and Gitea Actions: fetch-depth: 0; GitLab CI: GIT_DEPTH: 0)";

/** @throws InputError `git.shallow`, always */
export function refuseShallow(subject: string, missing: string): never {
  throw new InputError(`this clone is shallow and may not hold ${missing}`, {
    code: 'git.shallow',
    subject,
    hint: WHOLE_HISTORY,
  });
}

/** The problem of a partial clone, and what helps. Berth fetches nothing into the clones of others. */
export const PARTIAL_CLONE = {
  code: 'git.partial-clone',
  problem: 'this is a partial clone, and a part that is needed is not in it',
  hint: 'clone without --filter, or fetch what is missing: git fetch --refetch --no-filter origin',
} as const;

/** Whether the configuration of a repository says that it may lack objects on purpose. */
export async function isPartialClone(gitDir: string): Promise<boolean> {
  const config = await readFile(path.join(gitDir, 'config'), 'utf8').catch(() => '');
  return /^\s*(?:promisor\s*=\s*(?:true|yes|on|1)\b|partialclone(?:filter)?\s*=)/im.test(config);
}

/** @throws InputError `git.partial-clone`, always */
export function refusePartial(subject: string): never {
  const { code, problem, hint } = PARTIAL_CLONE;
  throw new InputError(problem, { code, subject, hint });
}

interface FoundBases {
  readonly tips: readonly [string, string];
  /** The best common ancestors of the tips, as far as the repository shows them. */
  readonly bases: readonly string[];
  /** The commits at which the history is cut off. */
  readonly shallow: ReadonlySet<string>;
}

/**
 * Checks that no better common ancestor can be behind the end of a shallow history. Such an ancestor is reached through
 * a cut-off commit. It cannot be better if that commit is an ancestor of a base that was found, or if one tip is an
 * ancestor of the other. If there are several bases, one of them may be an ancestor of another, so nothing may be cut.
 * @param outside the commits that the tips reach and the given bases do not
 * @throws InputError `git.shallow`
 */
export async function requireCertainBase(
  { tips, bases, shallow }: FoundBases,
  outside: (bases: readonly string[]) => Promise<Iterable<string>>,
): Promise<void> {
  const [only, second] = bases;
  if (shallow.size === 0 || (only !== undefined && tips.includes(only))) return;
  for (const commit of await outside(second === undefined ? bases : []))
    if (shallow.has(commit))
      refuseShallow(
        tips.map((tip) => tip.slice(0, 12)).join(' and '),
        'the commit where the two branches meet',
      );
}

/**
 * The commits where the history of a shallow repository begins. Their parents may be missing.
 * @param file the file `shallow` of the repository; it may be missing
 */
export async function readShallowCommits(file: string): Promise<ReadonlySet<string>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return new Set(text.split('\n').filter((id) => id !== ''));
}

/** Adds the shallow commits of a remote; earlier ones stay valid for earlier fetches. */
export async function recordShallow(gitDir: string, ids: readonly string[]): Promise<void> {
  const file = join(gitDir, 'shallow');
  const known = await readShallowCommits(file);
  if (ids.every((id) => known.has(id))) return;
  await writeFile(file, [...new Set([...known, ...ids])].map((id) => `${id}\n`).join(''), {
    mode: PRIVATE_FILE_MODE,
  });
}
