/** The ref that a source follows. `head` is the remote's default branch. */
export type GitRef =
  | { readonly type: 'head' }
  | { readonly type: 'branch'; readonly name: string }
  | { readonly type: 'tag'; readonly name: string }
  /** The highest tag inside an npm-style range, a leading `v` in tag names allowed. */
  | { readonly type: 'semver'; readonly range: string }
  | { readonly type: 'commit'; readonly id: string };

export interface GitPerson {
  readonly name: string;
  readonly email: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
}

export interface CommitInfo {
  /** Full hexadecimal id. */
  readonly id: string;
  /** Full id of its tree. Commits with equal content have the same tree, however they were merged. */
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: GitPerson;
  readonly committer: GitPerson;
  /** First line of the message. */
  readonly subject: string;
  readonly signed: boolean;
}

/** One leaf of a commit's tree: a file, a symlink (120000) or a submodule (160000). */
export interface TreeEntry {
  /** Separated by slashes. Bytes of a name that are not UTF-8 appear as U+FFFD. */
  readonly path: string;
  readonly mode: string;
  readonly id: string;
}

/** A path that differs between two trees. `entry` is its new entry; undefined when the path was removed. */
export interface TreeChange {
  readonly path: string;
  readonly entry: TreeEntry | undefined;
}

/** A version of a file: the commit that introduced it, and the id of its blob. */
export interface FileVersion {
  readonly commit: string;
  readonly id: string;
}

export interface FileHistories {
  /** Versions by path, newest first, without deletions. A path without a version has no entry. */
  readonly versions: ReadonlyMap<string, readonly FileVersion[]>;
  /** Whether all versions are included: the limit on commits was not reached. */
  readonly isWhole: boolean;
}

/** The result of reading one blob. */
export type BlobContent =
  | { readonly id: string; readonly state: 'read'; readonly bytes: Buffer }
  | { readonly id: string; readonly state: 'too-large'; readonly sizeBytes: number }
  | { readonly id: string; readonly state: 'missing' };

export interface ReadBlobsOptions {
  /** Larger blobs are skipped without being held in memory. */
  readonly maxBytes: number;
}

/**
 * Commits, trees and blobs of one repository, but never a work tree. There are two implementations, which pass the same
 * contract tests: the git program (git-program-repository.ts) and isomorphic-git (in-process-repository.ts).
 */
export interface GitRepository {
  /**
   * Id of the commit that a ref points to, without asking the remote.
   * @throws InputError `git.ref-not-found`
   */
  resolve(ref: GitRef): Promise<string>;
  /**
   * Resolves any revision that a user may type (branch, tag, remote branch, id; with the git program also `main~2`).
   * @throws InputError `git.ref-not-found`, or `git.needs-program`
   */
  resolveRevision(revision: string): Promise<string>;
  commit(id: string): Promise<CommitInfo>;
  /** All leaves of a commit's tree, sorted by path. */
  listTree(commit: string): Promise<readonly TreeEntry[]>;
  /** The paths that differ between the trees of two commits. A rename is a removal and an addition. */
  diffTrees(from: string, to: string): Promise<readonly TreeChange[]>;
  /** Calls back once per id, in the order of `ids`. */
  readBlobs(
    ids: readonly string[],
    options: ReadBlobsOptions,
    onBlob: (blob: BlobContent) => void,
  ): Promise<void>;
  /** The versions of files along the first parents, from the last `limit` commits that changed any of them. */
  fileHistories(commit: string, paths: readonly string[], limit: number): Promise<FileHistories>;
  /**
   * The best common ancestor, or one of several; undefined for unrelated histories.
   * @throws InputError `git.shallow` when the history is cut off, so that another one may be better
   */
  mergeBase(a: string, b: string): Promise<string | undefined>;
  /** Whether the history is cut off: earlier commits exist, but not here. */
  isShallow(): Promise<boolean>;
  close(): Promise<void>;
}

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when the objects have been received. Not called if the mirror had the commit, so that no request was sent. */
  readonly onObjectsReceived?: (() => void) | undefined;
  /**
   * Delete the objects of the mirror and fetch all of them again, when the remote is reachable. For
   * a mirror whose objects are damaged.
   */
  readonly refetchAll?: boolean | undefined;
}

/** A repository that follows a remote. */
export interface GitMirror extends GitRepository {
  /**
   * How often the mirror was recreated because its directory had been removed. Each time all pins are lost.
   */
  readonly timesRecreated: number;
  /**
   * Fetches the objects of `ref` from the remote, and returns the id of the commit that it points to.
   * @throws InputError when the remote refuses (credentials, host key, no such ref), TransientError when it cannot be reached
   */
  fetch(ref: GitRef, options?: FetchOptions): Promise<string>;
  /** Name of the tag that a `tag` or `semver` ref selects now; undefined for other refs, and when no tag is in the range. */
  tagOf(ref: GitRef): Promise<string | undefined>;
  /** Keeps a commit and its objects under a ref of Berth (`refs/berth/NAME`), also across restarts. */
  pin(name: PinName, commit: string): Promise<void>;
  pinned(name: PinName): Promise<string | undefined>;
  /** Repacks the mirror after many fetches. Called in the background, because it may take minutes. */
  repack(): Promise<void>;
}

/** `verified`: the commit passed the signature policy; `complete-NAME`: the source could read each of its files. */
export type PinName = 'verified' | `complete-${string}`;
