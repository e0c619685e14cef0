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
 * A repository for one comparison: the tree of each commit is listed once, for all readers. It keeps
 * every listing, so it is for a few commits.
 */
export class RememberedListings implements GitRepository {
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
    // What failed is tried again.
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

  close(): Promise<void> {
    return this.#repository.close();
  }
}
