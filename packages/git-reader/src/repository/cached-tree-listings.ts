import type {
  BlobContent,
  CommitInfo,
  FileHistories,
  GitRef,
  GitRepository,
  ReadBlobsOptions,
  TreeChange,
  TreeEntry,
} from './git-repository.ts';

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
