import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { needsGitProgram } from '../../adapters/git/program/git-program.ts';
import type { GitRepository } from '../../adapters/git/repository/git-repository.ts';
import { openRepository } from '../../adapters/git/open-repository.ts';
import { RememberedListings } from '../../adapters/git/repository/remembered-listings.ts';
import type { OpenedRepository } from '../../adapters/git/open-repository.ts';
import { trialMerge } from '../../adapters/git/program/trial-merge.ts';
import { InputError } from '../../core/errors.ts';

export interface ComparedCommits {
  /** Reads both commits, also one that was only merged on trial. */
  readonly repository: GitRepository;
  /** Full ids of the commits before and after. */
  readonly before: string;
  readonly after: string;
  /** What `head` was resolved to; `after` is another commit when it had to be merged on trial. */
  readonly head: string;
  /** Notes for the reader about the comparison. */
  readonly notes: readonly string[];
}

export interface CompareInput {
  readonly gitDir: string;
  readonly base: string;
  readonly head: string;
  /** Compare `head` with where it branched off, as a pull request's list of files does, instead of merging it on trial. */
  readonly fromMergeBase: boolean;
  readonly ambient: Readonly<Record<string, string | undefined>>;
}

/**
 * The two commits that show what merging `head` into `base` changes: the tip of `base`, and what would be there. When `base`
 * has moved on, that is neither of the two but their merge, which is made on trial: a cluster drained on one side and a
 * placement narrowed on the other move something that no comparison with the common ancestor shows.
 * @throws InputError when a ref is unknown, the two do not merge by themselves, or merging them needs a git program that is not there
 */
export async function withComparedCommits<T>(
  input: CompareInput,
  use: (compared: ComparedCommits) => Promise<T>,
): Promise<T> {
  const scratchDir = await mkdtemp(path.join(tmpdir(), 'berth-merge-'));
  const { gitDir, ambient } = input;
  let opened: OpenedRepository | undefined;
  try {
    opened = await openRepository({ gitDir, ambient, objectsIn: scratchDir });
    const repository = new RememberedListings(opened.repository);
    return await use(await compare(input, { ...opened, repository }, scratchDir));
  } finally {
    await opened?.repository.close();
    await rm(scratchDir, { recursive: true, force: true });
  }
}

async function compare(
  input: CompareInput,
  { repository, inProcess }: OpenedRepository,
  scratchDir: string,
): Promise<ComparedCommits> {
  const [base, head] = [
    await repository.resolveRevision(input.base),
    await repository.resolveRevision(input.head),
  ];
  const from = await repository.mergeBase(base, head);
  const plain = { repository, before: base, after: head, head };
  if (from === undefined)
    return {
      ...plain,
      notes: [`${input.base} and ${input.head} have no common ancestor; they are compared as they are.`],
    };
  if (from === base) return { ...plain, notes: [] };
  const moved = `${input.base} has moved on since ${input.head} branched off at ${from.slice(0, 12)}`;
  if (input.fromMergeBase)
    return {
      ...plain,
      before: from,
      notes: [`${moved}; the plan starts there and shows ${input.head} alone.`],
    };
  if (from === head)
    return { ...plain, after: base, notes: [`${input.base} already holds everything of ${input.head}.`] };
  if (inProcess)
    throw needsGitProgram(
      input.head,
      `merging it into ${input.base}, which has moved on since,`,
      `bring ${input.head} up to date, or see what it changes alone with --from-merge-base`,
    );
  const times = [await repository.commit(base), await repository.commit(head)].map(
    ({ committer }) => committer.timeMs,
  );
  const merge = await trialMerge({
    gitDir: input.gitDir,
    ambient: input.ambient,
    scratchDir,
    into: base,
    head,
    timeMs: Math.max(...times),
  });
  if (merge.kind === 'conflicts') throw conflict(input, merge.files);
  return { ...plain, after: merge.commit, notes: [`${moved}; the plan shows the merge of both.`] };
}

const MAX_FILES = 10;

function conflict({ base, head }: CompareInput, files: readonly string[]): InputError {
  const shown = files.slice(0, MAX_FILES).join(', ');
  const more = files.length > MAX_FILES ? ` and ${files.length - MAX_FILES} more` : '';
  return new InputError(`does not merge into ${base} by itself: both changed ${shown}${more}`, {
    code: 'plan.conflict',
    subject: head,
    hint: `bring ${head} up to date, or see what it changes alone with --from-merge-base`,
  });
}
