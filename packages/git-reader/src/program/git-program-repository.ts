import path from 'node:path';
import { TransientError } from '@berth/runtime/errors';
import {
  MAX_COMMIT_BYTES,
  parseCommitObject,
  refuseHugeCommit,
  parseTreeObject,
  diffTreeObjects,
  type TreeLeaf,
} from '../repository/git-object.ts';
import { checkRevision, refuseRef, resolveGitRef, tagOfRef, type RefReader } from '../repository/git-ref.ts';
import type {
  BlobContent,
  CommitInfo,
  FileHistories,
  GitRef,
  GitRepository,
  ReadBlobsOptions,
  TreeChange,
  TreeEntry,
} from '../repository/git-repository.ts';
import {
  isPartialClone,
  refusePartial,
  requireCertainBase,
  readShallowCommits,
} from '../repository/incomplete-clone.ts';
import {
  compareListings,
  MAX_LISTING_BYTES,
  parseFileHistories,
  parseTreeListing,
  refuseEndlessTree,
} from '../repository/tree-listing.ts';
import { CatFile } from './cat-file.ts';
import { gitEnvironment } from './git-environment.ts';
import { type GitResult, runGit, runGitOrThrow } from './run-git.ts';

export interface GitProgramOptions {
  /** The repository itself: a bare directory or a work tree's `.git`. */
  readonly gitDir: string;
  /** Environment of this process. Only a few variables are passed to git (git-environment.ts). */
  readonly ambient: Readonly<Record<string, string | undefined>>;
  /** An alternate object folder that git reads in addition: it holds the objects of a trial merge. */
  readonly objectsIn?: string | undefined;
}

/** Reads a repository on disk through the git program, without changing it. */
export class GitProgramRepository implements GitRepository {
  protected readonly gitDir: string;
  protected readonly ambient: Readonly<Record<string, string | undefined>>;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #catFile: CatFile;
  readonly #refs: RefReader = {
    commitOf: (name) => this.commitOf(name),
    tagNames: async () => {
      const list = ['for-each-ref', '--format=%(refname:strip=2)', 'refs/tags'];
      return (await this.git(list, 'tags')).split('\n');
    },
  };

  constructor(options: GitProgramOptions) {
    this.gitDir = options.gitDir;
    this.ambient = options.ambient;
    const { objectsIn } = options;
    this.#environment = {
      ...gitEnvironment({ gitDir: options.gitDir, ambient: options.ambient }),
      ...(objectsIn === undefined ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: objectsIn }),
    };
    this.#catFile = new CatFile(options.gitDir, this.#environment);
  }

  resolve(ref: GitRef): Promise<string> {
    return resolveGitRef(ref, this.#refs);
  }

  /** Name of the tag that a `tag` or `semver` ref selects now; undefined for other refs, and when no tag is in the range. */
  tagOf(ref: GitRef): Promise<string | undefined> {
    return tagOfRef(ref, this.#refs);
  }

  async resolveRevision(revision: string): Promise<string> {
    checkRevision(revision);
    return (
      (await this.commitOf(revision)) ??
      (await this.commitOf(`refs/remotes/origin/${revision}`)) ??
      refuseRef(revision)
    );
  }

  async commit(id: string): Promise<CommitInfo> {
    let info: CommitInfo | undefined;
    await this.#catFile.read([id], MAX_COMMIT_BYTES, (blob) => {
      if (blob.state === 'read') info = parseCommitObject(id, blob.bytes.toString('utf8'));
      else if (blob.state === 'too-large') refuseHugeCommit(id, blob.sizeBytes);
    });
    return info ?? refuseRef(id);
  }

  async listTree(commit: string): Promise<readonly TreeEntry[]> {
    const args = ['ls-tree', '-r', '-z', '--full-tree', commit];
    const listing = await this.git(args, commit, MAX_LISTING_BYTES).catch((error: unknown) => {
      if (error instanceof TransientError && error.code === 'git.output-limit')
        return refuseEndlessTree(commit);
      throw error;
    });
    return parseTreeListing(listing, commit);
  }

  async diffTrees(from: string, to: string): Promise<readonly TreeChange[]> {
    const changes = await diffSmallTrees(this.#catFile, from, to);
    if (changes !== undefined) return changes;
    // Not `git diff-tree`: it collects all differences in memory before it prints one, and a tree may be endless (tree-listing.ts).
    return compareListings(await this.listTree(from), await this.listTree(to));
  }

  async readBlobs(
    ids: readonly string[],
    options: ReadBlobsOptions,
    onBlob: (blob: BlobContent) => void,
  ): Promise<void> {
    let isLacking = false;
    await this.#catFile.read(ids, options.maxBytes, (blob) => {
      isLacking ||= blob.state === 'missing';
      onBlob(blob);
    });
    if (isLacking && (await isPartialClone(this.gitDir))) refusePartial(this.gitDir);
  }

  async fileHistories(commit: string, paths: readonly string[], limit: number): Promise<FileHistories> {
    const options = [
      '--first-parent',
      '--diff-merges=first-parent',
      '--raw',
      '--no-abbrev',
      '--no-renames',
      '-z',
    ];
    const args = ['log', ...options, `-n${limit}`, '--format=%H', commit, '--', ...paths];
    const { versions, commits } = parseFileHistories(await this.git(args, commit));
    return { versions, isWhole: commits < limit };
  }

  async mergeBase(a: string, b: string): Promise<string | undefined> {
    const subject = `${a}..${b}`;
    const result = await this.#run(['merge-base', '--all', a, b], subject);
    if (!result.ok && result.exitCode !== 1) throw result.error;
    const bases = linesOf(result.stdout);
    const found = { tips: [a, b], bases, shallow: await this.#shallowCommits() } as const;
    await requireCertainBase(found, async (known) =>
      linesOf(await this.git(['rev-list', a, b, '--not', ...known], subject)),
    );
    return bases[0];
  }

  async isShallow(): Promise<boolean> {
    return (await this.#shallowCommits()).size > 0;
  }

  async #shallowCommits(): Promise<ReadonlySet<string>> {
    // The file of a linked work tree is in the main repository.
    const file = await this.git(['rev-parse', '--git-path', 'shallow'], this.gitDir);
    return readShallowCommits(path.resolve(this.gitDir, file.trimEnd()));
  }

  async close(): Promise<void> {
    await this.#catFile.close();
  }

  protected async git(args: readonly string[], subject: string, maxStdoutBytes?: number): Promise<string> {
    const { gitDir: cwd } = this;
    return runGitOrThrow({ args, environment: this.#environment, cwd, subject, maxStdoutBytes });
  }

  #run(args: readonly string[], subject: string): Promise<GitResult> {
    return runGit({ args, environment: this.#environment, cwd: this.gitDir, subject });
  }

  /** Id of the commit of a revision, with annotated tags peeled. A revision with a line break or NUL was refused before. */
  protected commitOf(revision: string): Promise<string | undefined> {
    return this.#catFile.resolve(`${revision}^{commit}`);
  }
}

function linesOf(output: string): string[] {
  return output.split('\n').filter((line) => line !== '');
}

/** For more trees, two listings are faster, each by a process of its own. */
const MAX_TREES = 64;
const MAX_TREE_BYTES = 1024 * 1024;

/**
 * The differences between two commits, through the running `git cat-file`: a commit of a few files
 * needs a few tree objects instead of a new process. Undefined for many or large trees, a missing
 * commit and names that are not UTF-8, for which `git ls-tree` is used.
 */
export async function diffSmallTrees(
  catFile: CatFile,
  from: string,
  to: string,
): Promise<readonly TreeChange[] | undefined> {
  let trees = 0;
  const readTree = async (oid: string): Promise<readonly TreeLeaf[]> => {
    if (++trees > MAX_TREES) throw new NotSmall();
    let leaves: readonly TreeLeaf[] | undefined;
    await catFile.read([`${oid}^{tree}`], MAX_TREE_BYTES, (object) => {
      if (object.state === 'read') leaves = parseTreeObject(object.bytes, oid.length / 2);
    });
    if (leaves === undefined || leaves.some(({ path }) => path.includes('\uFFFD'))) throw new NotSmall();
    return leaves;
  };
  try {
    return await diffTreeObjects(readTree, from, to);
  } catch (error) {
    if (error instanceof NotSmall) return undefined;
    throw error;
  }
}

class NotSmall extends Error {}
