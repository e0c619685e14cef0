import path from 'node:path';
import { gitEnvironment } from './git-environment.ts';
import { runGit, runGitOrThrow } from './run-git.ts';

export interface TrialMergeInput {
  readonly gitDir: string;
  readonly ambient: Readonly<Record<string, string | undefined>>;
  /** An existing folder for the objects of the merge. The repository itself is only read. */
  readonly scratchDir: string;
  /** Full ids: the commit to merge into, and the commit to merge. */
  readonly into: string;
  readonly head: string;
  /** The time of the merge commit, in milliseconds since the epoch. With a fixed time, its id is the same every time. */
  readonly timeMs: number;
}

export type TrialMerge =
  /** Read the commit with `objectsIn: scratchDir`. */
  | { readonly kind: 'merged'; readonly commit: string }
  /** Files with conflicting changes on both sides. */
  | { readonly kind: 'conflicts'; readonly files: readonly string[] };

/**
 * Merges two commits as a forge would, in memory and a scratch folder: without a work tree or an index, and without
 * changing the repository.
 */
export async function trialMerge(input: TrialMergeInput): Promise<TrialMerge> {
  const { gitDir, ambient, scratchDir, into, head } = input;
  const subject = `merge of ${head.slice(0, 12)} into ${into.slice(0, 12)}`;
  const plain = gitEnvironment({ gitDir, ambient });
  const run = { cwd: gitDir, subject };
  const objects = await runGitOrThrow({
    ...run,
    args: ['rev-parse', '--git-path', 'objects'],
    environment: plain,
  });
  const environment = {
    ...plain,
    GIT_OBJECT_DIRECTORY: scratchDir,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: path.resolve(gitDir, objects.trimEnd()),
    ...committer(input.timeMs),
  };
  const args = ['merge-tree', '--write-tree', '--no-messages', '--name-only', '-z', into, head];
  const merged = await runGit({ ...run, args, environment });
  // Exit code 1: there are conflicts, and the files follow the tree in the output.
  if (!merged.ok && merged.exitCode !== 1) throw merged.error;
  const [tree = '', ...files] = merged.stdout.split('\0').filter((part) => part !== '');
  if (!merged.ok) return { kind: 'conflicts', files: [...new Set(files)].sort() };
  const commit = await runGitOrThrow({
    ...run,
    args: ['commit-tree', '-p', into, '-p', head, '-m', 'Trial merge', tree],
    environment,
  });
  return { kind: 'merged', commit: commit.trim() };
}

function committer(timeMs: number): Record<string, string> {
  const date = `${Math.floor(timeMs / 1000)} +0000`;
  const [name, email] = ['berth plan', 'plan@berth.invalid'];
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
  };
}
