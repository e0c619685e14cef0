import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflate, inflateSync } from 'node:zlib';
import { InputError, TransientError, errorText } from '@berth/runtime/errors';
import git from 'isomorphic-git';
import {
  MAX_COMMIT_BYTES,
  parseCommitObject,
  refuseHugeCommit,
  parseTreeObject,
  diffTreeObjects,
  listTreeObject,
  resolvePath,
  type ReadTree,
  type TreeLeaf,
} from '../repository/git-object.ts';
import { checkRevision, refuseRef, resolveGitRef, tagOfRef, type RefReader } from '../repository/git-ref.ts';
import type {
  BlobContent,
  CommitInfo,
  FileHistories,
  FileVersion,
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
import { MAX_TREE_ENTRIES, refuseEndlessTree } from '../repository/tree-listing.ts';
import { requirePlainRevision, privateFs } from './in-process-limits.ts';

type Ids = ReadonlyMap<string, string | undefined>;

/** Maximum number of commits in which versions of a file are searched. */
const MAX_HISTORY = 10_000;
/** If two commits differ in more folders, the tree may be endless, and listing both is faster anyway. */
const MAX_DIFFERENT_TREES = 100_000;

/**
 * Reads a repository on disk through isomorphic-git, for systems without a git program. It is several times slower, and
 * holds packs in memory.
 */
export class InProcessRepository implements GitRepository {
  protected gitDir: string;
  /** The cache of isomorphic-git, with pack indexes; a new one makes it read the disk again. */
  protected cache: object = {};
  readonly #readTree: ReadTree;
  readonly #refs: RefReader = {
    commitOf: (name) => this.commitOf(name),
    tagNames: () => git.listTags(this.store),
  };

  constructor(gitDir: string) {
    this.gitDir = gitDir;
    this.#readTree = (oid) => readTreeObject(this.store, oid);
  }

  protected get store() {
    return { fs: privateFs, gitdir: this.gitDir, cache: this.cache };
  }

  resolve(ref: GitRef): Promise<string> {
    return resolveGitRef(ref, this.#refs);
  }

  /** Name of the tag that a ref resolves to; undefined if it is not a tag or does not exist. */
  tagOf(ref: GitRef): Promise<string | undefined> {
    return tagOfRef(ref, this.#refs);
  }

  async resolveRevision(revision: string): Promise<string> {
    checkRevision(revision);
    requirePlainRevision(revision);
    for (const name of [
      revision,
      `refs/heads/${revision}`,
      `refs/tags/${revision}`,
      `refs/remotes/origin/${revision}`,
    ]) {
      const commit = await this.commitOf(name);
      if (commit !== undefined) return commit;
    }
    if (/^[0-9a-f]{4,39}$/.test(revision)) {
      const oid = await git.expandOid({ ...this.store, oid: revision }).catch(() => undefined);
      const commit = oid === undefined ? undefined : await this.commitOf(oid);
      if (commit !== undefined) return commit;
    }
    return refuseRef(revision);
  }

  async commit(id: string): Promise<CommitInfo> {
    return this.#read(id, async () => {
      const found = await readObject(this.store, id).catch(ignoreNotFound);
      if (found?.type !== 'commit') return refuseRef(id);
      if (found.content.length > MAX_COMMIT_BYTES) refuseHugeCommit(id, found.content.length);
      return parseCommitObject(id, found.content.toString('utf8'));
    });
  }

  async listTree(commit: string): Promise<readonly TreeEntry[]> {
    return this.#read(commit, async () => {
      const leaves: TreeEntry[] = [];
      await listTreeObject(this.#readTree, commit, (leaf) => {
        if (leaves.push(leaf) > MAX_TREE_ENTRIES) refuseEndlessTree(commit);
      });
      return leaves;
    });
  }

  async diffTrees(from: string, to: string): Promise<readonly TreeChange[]> {
    let trees = 0;
    const readTree: ReadTree = (oid) => {
      if (++trees > MAX_DIFFERENT_TREES) refuseEndlessTree(to);
      return this.#readTree(oid);
    };
    return this.#read(`${from}..${to}`, () => diffTreeObjects(readTree, from, to));
  }

  async readBlobs(
    ids: readonly string[],
    options: ReadBlobsOptions,
    onBlob: (blob: BlobContent) => void,
  ): Promise<void> {
    for (const id of ids) onBlob(await this.#readBlob(id, options.maxBytes));
  }

  async fileHistories(commit: string, paths: readonly string[], limit: number): Promise<FileHistories> {
    return this.#read(commit, () => this.#histories(commit, paths, limit));
  }

  async #histories(commit: string, paths: readonly string[], limit: number): Promise<FileHistories> {
    const shallow = await this.#shallowCommits();
    const versions = new Map<string, FileVersion[]>();
    const addVersion = (path: string, version: FileVersion): void => {
      const known = versions.get(path);
      if (known === undefined) versions.set(path, [version]);
      else known.push(version);
    };
    const idsIn = async (commitId: string) =>
      new Map(
        await Promise.all(
          paths.map(async (path) => [path, await resolvePath(this.#readTree, commitId, path)] as const),
        ),
      );
    let [current, ids, changes]: [string | undefined, Ids, number] = [commit, await idsIn(commit), 0];
    for (let steps = 0; current !== undefined && steps < MAX_HISTORY && changes < limit; steps++) {
      let [parent]: readonly string[] = (await this.commit(current)).parents;
      if (parent !== undefined && shallow.has(current)) parent = await this.commitOf(parent);
      const before: Ids = parent === undefined ? new Map<string, undefined>() : await idsIn(parent);
      const changed = paths.filter((path) => ids.get(path) !== before.get(path));
      if (changed.length > 0) changes += 1;
      for (const path of changed) {
        const id = ids.get(path);
        if (id !== undefined) addVersion(path, { commit: current, id });
      }
      [current, ids] = [parent, before];
    }
    return { versions, isWhole: current === undefined };
  }

  async mergeBase(a: string, b: string): Promise<string | undefined> {
    return this.#read(`${a}...${b}`, async () => {
      const bases = (await git.findMergeBase({ ...this.store, oids: [a, b] })) as string[];
      const shallow = await this.#shallowCommits();
      await requireCertainBase({ tips: [a, b], bases, shallow }, async (known) => {
        const behind = await this.#reachable(known, shallow);
        return this.#reachable([a, b], shallow, behind);
      });
      return bases[0];
    });
  }

  async isShallow(): Promise<boolean> {
    return (await this.#shallowCommits()).size > 0;
  }

  #shallowCommits(): Promise<ReadonlySet<string>> {
    return readShallowCommits(join(this.gitDir, 'shallow'));
  }

  /** The commits that these reach within a shallow history, without some. */
  async #reachable(
    from: readonly string[],
    shallow: ReadonlySet<string>,
    without: ReadonlySet<string> = new Set(),
  ): Promise<ReadonlySet<string>> {
    const reached = new Set<string>();
    const open = [...from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (reached.has(id) || without.has(id)) continue;
      reached.add(id);
      if (!shallow.has(id)) open.push(...(await this.commit(id)).parents);
    }
    return reached;
  }

  async close(): Promise<void> {
    this.cache = {};
  }

  async #readBlob(id: string, maxBytes: number): Promise<BlobContent> {
    try {
      const { type, content } = await readObject(this.store, id);
      if (type !== 'blob') throw new git.Errors.ObjectTypeError(id, type as 'tree', 'blob');
      if (content.length > maxBytes) return { id, state: 'too-large', sizeBytes: content.length };
      return { id, state: 'read', bytes: content };
    } catch (error) {
      if (!(error instanceof git.Errors.NotFoundError)) throw this.#failed(id, error);
      if (await isPartialClone(this.gitDir)) refusePartial(this.gitDir);
      return { id, state: 'missing' };
    }
  }

  /** The id of the commit that a ref, id or annotated tag points to. */
  protected async commitOf(name: string): Promise<string | undefined> {
    try {
      const oid = /^[0-9a-f]{40}$/.test(name) ? name : await git.resolveRef({ ...this.store, ref: name });
      return await peeledCommit(this.store, oid);
    } catch (error) {
      const isAbsent =
        error instanceof git.Errors.NotFoundError || error instanceof git.Errors.ObjectTypeError;
      if (isAbsent) return undefined;
      throw this.#failed(name, error);
    }
  }

  async #read<T>(subject: string, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (error instanceof InputError) throw error;
      if (error instanceof git.Errors.NotFoundError && (await isPartialClone(this.gitDir)))
        refusePartial(this.gitDir);
      throw this.#failed(subject, error);
    }
  }

  #failed(subject: string, cause: unknown): TransientError {
    // An error of the file system may disappear. Any other error means that the repository is damaged.
    const isDamaged = (cause as NodeJS.ErrnoException).syscall === undefined;
    const problem = cause instanceof git.Errors.InternalError ? cause.data.message : errorText(cause);
    const code = isDamaged ? 'git.corrupt' : 'git.failed';
    return new TransientError(`cannot be read: ${problem}`, { code, subject, cause });
  }
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof git.Errors.NotFoundError)) throw error;
}

/** The commit that an id or annotated tag leads to. */
async function peeledCommit(store: GitStore, oid: string): Promise<string | undefined> {
  const { type, content } = await readObject(store, oid);
  if (type === 'commit') return oid;
  const tagged =
    type === 'tag' ? /^object ([0-9a-f]{40})\n/.exec(content.toString('latin1'))?.[1] : undefined;
  return tagged === undefined ? undefined : peeledCommit(store, tagged);
}

/**
 * Not git.readTree, which rejects the complete repository for one file with a backslash in its
 * name, or with an obsolete mode.
 */
async function readTreeObject(store: GitStore, oid: string): Promise<readonly TreeLeaf[]> {
  const { type, content } = await readObject(store, oid);
  const root = type === 'commit' ? /^tree ([0-9a-f]{40})\n/.exec(content.toString('latin1'))?.[1] : undefined;
  if (root !== undefined) return readTreeObject(store, root);
  const leaves = type === 'tree' ? parseTreeObject(content, oid.length / 2) : undefined;
  if (leaves === undefined) throw new git.Errors.ObjectTypeError(oid, type as 'blob', 'tree');
  return leaves;
}

interface GitStore {
  readonly fs: typeof privateFs;
  readonly gitdir: string;
  readonly cache: object;
}

interface GitObject {
  /** `commit`, `tree`, `blob` or `tag`. */
  readonly type: string;
  readonly content: Buffer;
}

/**
 * Reads an object of a repository. isomorphic-git reads only those in packs: it inflates a loose
 * object through a web stream, which takes several times as long.
 * @throws git.Errors.NotFoundError, and an Error where it is damaged
 */
async function readObject(store: GitStore, oid: string): Promise<GitObject> {
  const loose = await looseObject(store.gitdir, oid);
  if (loose !== undefined) return loose;
  const found = await git.readObject({ ...store, oid, format: 'content' });
  if (found.format !== 'content') throw new git.Errors.InternalError(`got ${found.format}, expected content`);
  return { type: found.type, content: asBuffer(found.object) };
}

const inflateInThread = promisify(inflate);
/** Inflating a larger object synchronously would block the event loop for too long. */
const MAX_SYNC_BYTES = 64 * 1024;

async function looseObject(gitDir: string, oid: string): Promise<GitObject | undefined> {
  const deflated = await readFile(join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2))).catch(
    ignoreMissing,
  );
  if (deflated === undefined) return undefined;
  const bytes = deflated.length > MAX_SYNC_BYTES ? await inflateInThread(deflated) : inflateSync(deflated);
  if (createHash('sha1').update(bytes).digest('hex') !== oid)
    throw damaged(oid, 'its content has another id');
  const end = bytes.indexOf(0);
  const [type = '', size] = bytes.toString('latin1', 0, Math.max(end, 0)).split(' ');
  const content = bytes.subarray(end + 1);
  if (size !== String(content.length)) throw damaged(oid, `it has ${content.length} bytes, expected ${size}`);
  return { type, content };
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}

function damaged(oid: string, problem: string): Error {
  return new git.Errors.InternalError(`object ${oid} is damaged: ${problem}`);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
