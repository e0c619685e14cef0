/** What a source follows. `head` is the remote's default branch. */
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
  readonly parents: readonly string[];
  readonly author: GitPerson;
  readonly committer: GitPerson;
  /** First line of the message. */
  readonly subject: string;
  readonly signed: boolean;
}

/** One leaf of a commit's tree: a file, a symlink (120000) or a submodule (160000). */
export interface TreeEntry {
  /** Slash-separated; a name that is not UTF-8 shows U+FFFD. */
  readonly path: string;
  readonly mode: string;
  readonly id: string;
}

/** `entry` is absent when the path is gone. */
export interface TreeChange {
  readonly path: string;
  readonly entry: TreeEntry | undefined;
}

/** A version of a file: the commit that brought it, and its blob. */
export interface FileVersion {
  readonly commit: string;
  readonly id: string;
}

export interface FileHistories {
  /** By path, newest first, deletions left out; a path without a version is not there. */
  readonly versions: ReadonlyMap<string, readonly FileVersion[]>;
  /** There are no earlier versions. */
  readonly isWhole: boolean;
}

/** What became of one blob that was asked for. */
export type BlobContent =
  | { readonly id: string; readonly state: 'read'; readonly bytes: Buffer }
  | { readonly id: string; readonly state: 'too-large'; readonly sizeBytes: number }
  | { readonly id: string; readonly state: 'missing' };

export interface ReadBlobsOptions {
  /** Larger blobs are skipped without being held in memory. */
  readonly maxBytes: number;
}

/**
 * Commits, trees and blobs of one repository; never a work tree. Two implementations obey one contract suite: the git
 * program (git-program-repository.ts) and isomorphic-git (in-process-repository.ts).
 */
export interface GitRepository {
  /** The commit that a ref points to, without the network. InputError `git.ref-not-found`. */
  resolve(ref: GitRef): Promise<string>;
  /**
   * Any revision text a user may type (branch, tag, remote branch, id; with the git program also `main~2`). InputError
   * `git.ref-not-found`, or `git.needs-program`.
   */
  resolveRevision(revision: string): Promise<string>;
  commit(id: string): Promise<CommitInfo>;
  /** All leaves of a commit's tree in path order. */
  listTree(commit: string): Promise<readonly TreeEntry[]>;
  /** What differs between two commits' trees, renames as a removal and an addition. */
  diffTrees(from: string, to: string): Promise<readonly TreeChange[]>;
  /** Calls back once per id, in the order of `ids`. */
  readBlobs(
    ids: readonly string[],
    options: ReadBlobsOptions,
    onBlob: (blob: BlobContent) => void,
  ): Promise<void>;
  /** The versions of files along the first parents, from the last `limit` commits that changed any of them. */
  fileHistories(commit: string, paths: readonly string[], limit: number): Promise<FileHistories>;
  /** Best common ancestor; undefined for unrelated histories. */
  mergeBase(a: string, b: string): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when the remote has answered and what came is being looked at. Not when there was nothing to ask it. */
  readonly onAnswered?: (() => void) | undefined;
  /** What was brought before turned out to be damaged when it was read: once the remote answers, all of it is brought again. */
  readonly anew?: boolean | undefined;
}

/** A repository that follows a remote. */
export interface GitMirror extends GitRepository {
  /**
   * How often the mirror was made again after its directory was removed. Each time all pins are lost.
   */
  readonly timesMadeAgain: number;
  /**
   * Brings what `ref` needs from the remote and returns the commit it points to. InputError when the remote says no
   * (credentials, host key, no such ref), TransientError when it could not be asked.
   */
  fetch(ref: GitRef, options?: FetchOptions): Promise<string>;
  /** Name of the tag that a ref leads to now; undefined when it is no tag, or when there is none. */
  tagOf(ref: GitRef): Promise<string | undefined>;
  /** Remembers a commit under a name of ours, across restarts; what it needs is kept. */
  pin(name: PinName, commit: string): Promise<void>;
  pinned(name: PinName): Promise<string | undefined>;
  /** Repairs what many fetches made slow to read. To be called now and then, when nothing waits for it. */
  tidy(): Promise<void>;
}

/** `verified`: passed the signature policy; `complete`: every file of it could be read. */
export type PinName = 'verified' | 'complete';
