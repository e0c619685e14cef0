import { BugError, InputError } from '@berth/runtime/errors';
import type {
  FileVersion,
  TreeChange,
  TreeEntry,
  BlobContent,
  CommitInfo,
  FileHistories,
  GitRef,
  GitRepository,
  ReadBlobsOptions,
} from './git-repository.ts';

/**
 * Maximum number of entries. A tree may reference one subtree many times, so that a repository of a
 * few kilobytes has billions of files. The largest real repositories have about half as many as
 * this.
 */
export const MAX_TREE_ENTRIES = 1_000_000;
/** Enough for that many paths of 75 bytes. */
export const MAX_LISTING_BYTES = 128 * 1024 ** 2;

/** @throws InputError `git.too-many-files`, always */
export function refuseEndlessTree(commit: string): never {
  throw new InputError(`lists more than ${MAX_TREE_ENTRIES} files`, {
    code: 'git.too-many-files',
    subject: `Commit ${commit}`,
    hint: 'the last commit that could be read stays in force',
  });
}

/**
 * Parses `git ls-tree -r -z`: `mode type id\tpath\0`.
 * @throws InputError `git.too-many-files`
 */
export function parseTreeListing(output: string, commit: string): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < output.length; ) {
    if (entries.length === MAX_TREE_ENTRIES) refuseEndlessTree(commit);
    const tab = output.indexOf('\t', at);
    const end = output.indexOf('\0', tab);
    if (tab === -1 || end === -1) throw malformed('ls-tree', output.slice(at, at + 80));
    const firstSpace = output.indexOf(' ', at);
    const secondSpace = output.indexOf(' ', firstSpace + 1);
    entries.push({
      mode: output.slice(at, firstSpace),
      id: output.slice(secondSpace + 1, tab),
      path: output.slice(tab + 1, end),
    });
    at = end + 1;
  }
  return entries;
}

/** The differences between two listings. */
export function compareListings(from: readonly TreeEntry[], to: readonly TreeEntry[]): TreeChange[] {
  const gone = new Map(from.map((entry) => [entry.path, entry]));
  const changes: TreeChange[] = [];
  for (const entry of to) {
    const before = gone.get(entry.path);
    gone.delete(entry.path);
    if (before?.id !== entry.id || before.mode !== entry.mode) changes.push({ path: entry.path, entry });
  }
  for (const path of gone.keys()) changes.push({ path, entry: undefined });
  return changes;
}

/**
 * Parses `git log -z --format=%H --raw`: for each commit its id, and for each change a line of modes, ids and status,
 * and a path.
 */
export function parseFileHistories(output: string): {
  readonly versions: ReadonlyMap<string, readonly FileVersion[]>;
  readonly commits: number;
} {
  const versions = new Map<string, FileVersion[]>();
  const fields = output.split('\0').map((field) => field.replace(/^\n/, ''));
  let [commit, commits] = ['', 0];
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? '';
    if (/^[0-9a-f]{40,64}$/.test(field)) {
      commit = field;
      commits += 1;
    } else if (field.startsWith(':')) {
      const path = fields[++at] ?? '';
      const id = /^:\d+ 100\d+ [0-9a-f]+ ([0-9a-f]+) [AMT]$/.exec(field)?.[1];
      if (id === undefined) continue;
      const known = versions.get(path);
      if (known === undefined) versions.set(path, [{ commit, id }]);
      else known.push({ commit, id });
    }
  }
  return { versions, commits };
}

function malformed(command: string, got: string): BugError {
  return new BugError(`unexpected output ${JSON.stringify(got)}`, {
    code: 'git.output',
    subject: `git ${command}`,
  });
}

/**
 * A repository that lists the tree of each commit once, and caches the listing for all readers. It
 * never drops a listing, so it is for one comparison of a few commits.
 */
export class CachedTreeListings implements GitRepository {
  readonly #repository: GitRepository;
  readonly #listings = new Map<string, Promise<readonly TreeEntry[]>>();

  constructor(repository: GitRepository) {
    this.#repository = repository;
  }

  /** @param commit full id */
  listTree(commit: string): Promise<readonly TreeEntry[]> {
    const known = this.#listings.get(commit);
    if (known !== undefined) return known;
    const listing = this.#repository.listTree(commit);
    this.#listings.set(commit, listing);
    // A failed listing is not cached.
    listing.catch(() => this.#listings.delete(commit));
    return listing;
  }

  resolve(ref: GitRef): Promise<string> {
    return this.#repository.resolve(ref);
  }

  resolveRevision(revision: string): Promise<string> {
    return this.#repository.resolveRevision(revision);
  }

  commit(id: string): Promise<CommitInfo> {
    return this.#repository.commit(id);
  }

  diffTrees(from: string, to: string): Promise<readonly TreeChange[]> {
    return this.#repository.diffTrees(from, to);
  }

  readBlobs(
    ids: readonly string[],
    options: ReadBlobsOptions,
    onBlob: (blob: BlobContent) => void,
  ): Promise<void> {
    return this.#repository.readBlobs(ids, options, onBlob);
  }

  fileHistories(commit: string, paths: readonly string[], limit: number): Promise<FileHistories> {
    return this.#repository.fileHistories(commit, paths, limit);
  }

  mergeBase(a: string, b: string): Promise<string | undefined> {
    return this.#repository.mergeBase(a, b);
  }

  isShallow(): Promise<boolean> {
    return this.#repository.isShallow();
  }

  close(): Promise<void> {
    return this.#repository.close();
  }
}
