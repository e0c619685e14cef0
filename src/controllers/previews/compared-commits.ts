import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openRepository, type OpenedRepository } from '@berth/git-reader/open-repository';
import { findEnclosingGitDir } from '@berth/git-reader/repository/git-dir';
import { needsGitProgram } from '@berth/git-reader/program/git-program';
import { trialMerge } from '@berth/git-reader/program/trial-merge';
import type { GitRepository } from '@berth/git-reader/repository/git-repository';
import { WHOLE_HISTORY } from '@berth/git-reader/repository/incomplete-clone';
import { CachedTreeListings } from '@berth/git-reader/repository/tree-listing';
import { InputError } from '@berth/runtime/errors';
import type { LastLists } from '@berth/runtime/lists/once-per-list';
import type { ParsedManifest } from '../../adapters/yaml/parse-manifests.ts';
import type { SideDecider } from '../../core/preview/sides/side-decider.ts';
import type { SourceChecker } from '../../core/sources/check-sources.ts';
import type { ParsedFiles } from '../sources/parsing/parsed-cache.ts';
import type { RenderedSets } from './rendered-sets.ts';
import { identityOf, type ObjectRef, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { LostFile } from '../../core/preview/lost-file.ts';
import { manifestSelector, selectManifests } from '../sources/manifests/manifest-selection.ts';
import type { SourceDeclaration } from '../../core/preview/sides/merge-sources.ts';
import type { KeptCommit } from '../sources/reading/read-commit.ts';

export interface ComparedCommits {
  /** Reads both commits, including a trial merge that exists only here. */
  readonly repository: GitRepository;
  /** Full ids of the commits before and after. */
  readonly before: string;
  readonly after: string;
  /** The commit that `head` names. `after` is another one if `head` had to be merged on trial. */
  readonly head: string;
  /** Notes about the comparison, for the reader. */
  readonly notes: readonly string[];
}

export interface CompareInput {
  readonly gitDir: string;
  readonly base: string;
  readonly head: string;
  /** Compare `head` with the merge base, as the file list of a pull request does, instead of with a trial merge. */
  readonly fromMergeBase: boolean;
  readonly ambient: Readonly<Record<string, string | undefined>>;
}

/** What is kept from plan to plan. It makes the next plan faster and does not change it. */
export interface PlanMemory {
  /** Parsed files. Absent: none. */
  readonly files?: ParsedFiles | undefined;
  /** The commits that the bases of earlier plans were. */
  readonly bases?: Pick<KeptBases, 'of' | 'keep'> | undefined;
  /** The decider of earlier plans. */
  readonly decider?: SideDecider | undefined;
  /** The objects of the last base of each source. */
  readonly baseLists?: LastLists<ParsedManifest> | undefined;
  /** The ApplicationSets that earlier plans rendered. */
  readonly rendered?: RenderedSets | undefined;
  /** The checker of earlier states of the sources. Absent: a new one. */
  readonly checker?: SourceChecker | undefined;
}

/**
 * The two commits that show what merging `head` into `base` changes: the tip of `base`, and the result of the merge. If
 * `base` has moved on, that result is neither of the two tips, so Berth merges them on trial. A comparison with the
 * common ancestor would miss some moves, for example when one side drains a cluster and the other side narrows a
 * placement.
 * @throws InputError when a ref is unknown, when the history is cut off before the commit where the two meet is certain,
 *   when they do not merge automatically, or when merging needs a git program and there is none
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
    const repository = new CachedTreeListings(opened.repository);
    return await use(await compare(input, { ...opened, repository }, scratchDir));
  } finally {
    await opened?.repository.close();
    await rm(scratchDir, { recursive: true, force: true });
  }
}

/**
 * The Git directory of a work tree, of a linked work tree, of a folder inside one, or of a bare repository. @throws
 * InputError outside of a repository
 */
export async function locateGitDir(start: string): Promise<string> {
  const found = await findEnclosingGitDir(start);
  if (found !== undefined) return found.gitDir;
  throw new InputError('is not inside a Git repository', {
    code: 'git.repository-not-found',
    subject: start,
    hint: 'run the command in a clone, or name one with --repo',
  });
}

async function compare(
  input: CompareInput,
  { repository, inProcess }: OpenedRepository,
  scratchDir: string,
): Promise<ComparedCommits> {
  const [base, head] = [await resolveIn(repository, input.base), await resolveIn(repository, input.head)];
  const from = await repository.mergeBase(base, head);
  const [baseName, headName] = [nameOf(input.base), nameOf(input.head)];
  const plain = { repository, before: base, after: head, head };
  if (from === undefined)
    return {
      ...plain,
      notes: [`${baseName} and ${headName} have no common ancestor; they are compared as they are.`],
    };
  if (from === base) return { ...plain, notes: [] };
  const moved = `${baseName} has moved on since ${headName} branched off at ${from.slice(0, 12)}`;
  if (input.fromMergeBase)
    return {
      ...plain,
      before: from,
      notes: [`${moved}; the plan starts there and shows ${headName} alone.`],
    };
  if (from === head)
    return { ...plain, after: base, notes: [`${baseName} already contains everything of ${headName}.`] };
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

/** @throws InputError `git.ref-not-found`, with what to do about it in a clone that has only a part of the remote */
async function resolveIn(repository: GitRepository, revision: string): Promise<string> {
  try {
    return await repository.resolveRevision(revision);
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== 'git.ref-not-found') throw error;
    const isShallow = await repository.isShallow();
    throw new InputError(
      `not found in ${isShallow ? 'this shallow clone' : 'the repository'}, expected an existing branch, tag or commit`,
      {
        code: error.code,
        subject: error.subject,
        hint: isShallow ? WHOLE_HISTORY : 'fetch it first: git fetch origin',
        cause: error,
      },
    );
  }
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

/** For display: the id of a commit is shortened. */
function nameOf(revision: string): string {
  return /^[0-9a-f]{40}$/.test(revision) ? revision.slice(0, 12) : revision;
}

export interface LostFilesInput {
  readonly repository: Pick<GitRepository, 'listTree'>;
  /** Full id of the commit before the change. `after` is the commit with the change. */
  readonly before: string;
  readonly after: string;
  /** The objects of the source in the commits `before` and `after`. */
  readonly base: Pick<SourceDeclaration, 'name' | 'objects'>;
  readonly head: Pick<SourceDeclaration, 'objects'>;
  /** The paths of the source, which select its manifests. */
  readonly paths: readonly string[];
}

/**
 * Finds files that still exist although the source lost all of their objects: files that were emptied, and files that
 * were moved unchanged to a path that the source does not select. Unlike the deletion of a file, such a change may be a
 * mistake.
 */
export async function findLostFiles(input: LostFilesInput): Promise<readonly LostFile[]> {
  const lost = lostObjects(input.base.objects, input.head.objects);
  if (lost.size === 0) return [];
  const { repository, base, paths } = input;
  const [before, after] = [await repository.listTree(input.before), await repository.listTree(input.after)];
  const idBefore = new Map(before.map(({ path, id }) => [path, id]));
  const selected = new Set(selectManifests(after, manifestSelector(paths)).files.map(({ path }) => path));
  const filesWithObjects = new Set(input.head.objects.map(({ location }) => location.file));
  return [...lost].flatMap(([file, objects]): readonly LostFile[] => {
    const lostFile = { source: base.name, file, objects };
    if (selected.has(file))
      return filesWithObjects.has(file) ? [] : [{ ...lostFile, change: 'emptied', movedTo: undefined }];
    const movedTo = after.find(({ path, id }) => id === idBefore.get(file) && !idBefore.has(path))?.path;
    return movedTo === undefined ? [] : [{ ...lostFile, change: 'unselected', movedTo }];
  });
}

/** The objects that only the commit before declares, by the file that declared them. */
function lostObjects(
  before: readonly SourceObject[],
  after: readonly SourceObject[],
): ReadonlyMap<string, readonly ObjectRef[]> {
  // Nearly all objects are the same on both sides.
  const same = new Set(after.map(({ object }) => object));
  const others = before.filter(({ object }) => !same.has(object));
  const lost = new Map<string, ObjectRef[]>();
  if (others.length === 0) return lost;
  const present = new Set(after.map(({ object }) => identityOf(object)));
  for (const { object, location } of others)
    if (!present.has(identityOf(object)))
      lost.set(location.file, [...(lost.get(location.file) ?? []), refOf(object)]);
  return lost;
}

/**
 * The last base that was read of each source. Its files and objects are the very same ones in the next plan, so that what
 * was computed of them is found again. What neither this plan nor the last one read is forgotten.
 */
export class KeptBases {
  #now = new Map<string, KeptCommit>();
  #before = new Map<string, KeptCommit>();

  /** Another plan begins. */
  beginPlan(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  /** @param source everything that decides what is read of a commit */
  of(source: string): KeptCommit | undefined {
    return this.#now.get(source) ?? this.#before.get(source);
  }

  /** @param commit is not changed from now on */
  keep(source: string, commit: KeptCommit): void {
    this.#now.set(source, commit);
  }
}
