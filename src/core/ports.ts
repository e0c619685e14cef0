import type { KindInfo } from './model/kinds.ts';
import type { KubeObject } from './model/object-meta.ts';

/** Time as an argument. The fake of the tests drifts and jumps. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after `delayMs`; the returned function cancels. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** A clock with a monotonic time, which is never set and never goes back. */
export interface MonotonicClock extends Clock {
  /** Milliseconds since some moment before the start of this process; comparable only within it. */
  monotonicMs(): number;
}

/** A clock that also counts the time while the machine sleeps. */
export interface SleepingClock extends MonotonicClock {
  /**
   * Milliseconds since the machine started, also those in which it slept. Nobody sets it. Exact to a second at least;
   * comparable only within one process.
   */
  sinceBootMs(): number;
}

/** Structured log: a constant message and fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** `namespace` is '' for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

export interface ListOptions {
  /** '' or absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ObjectList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

export interface WatchOptions extends ListOptions {
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  /** Called when the server accepted the watch: from then on silence means that nothing changed. */
  readonly onOpen?: (() => void) | undefined;
}

export type WatchEvent =
  | { readonly type: 'added' | 'modified' | 'deleted'; readonly object: KubeObject }
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

export interface WriteOptions {
  /** `token`: of a ServiceAccount, to be created; the object has the name of the account. */
  readonly subresource?: 'status' | 'approval' | 'token' | undefined;
  readonly fieldManager?: string | undefined;
  readonly dryRun?: boolean | undefined;
  /**
   * Requests a PartialObjectMetadata as the response, if the server supports it; otherwise the
   * complete object.
   */
  readonly metadataOnly?: boolean | undefined;
}

export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
}

/** Endpoints of an API server other than resources. */
export interface ServerEndpoints {
  /** @throws TransientError when there is no response; every response of the server is a value */
  probe(
    path: '/livez' | '/healthz' | '/version',
  ): Promise<{ readonly statusCode: number; readonly text: string }>;
}

/**
 * The Kubernetes API as Berth uses it, for the embedded hub, a real hub or a managed cluster.
 * Failures are thrown: ConflictError (409 on a write, also AlreadyExists), TransientError (network,
 * 429, 5xx, time-out), InputError (other 4xx, `code` is `kube.` and the Status reason in lower
 * case, e.g. `kube.notfound`, `kube.forbidden`, `kube.invalid`). Only `get` turns 404 into a value.
 * A failed read is always an error, never an empty list.
 */
export interface KubeApi {
  /** The server's URL, verbatim as configured. */
  readonly server: string;
  get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined>;
  /** Reads all pages of one consistent list. */
  list(kind: KindInfo, options?: ListOptions): Promise<ObjectList>;
  /**
   * Streams changes after `resourceVersion`; ends with an error when the version has expired (410:
   * `kube.expired`).
   */
  watch(kind: KindInfo, options: WatchOptions): AsyncIterable<WatchEvent>;
  create(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /** PUT; the object's resourceVersion is the precondition. */
  update(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /** JSON merge patch; put uid and resourceVersion into its metadata for a precondition. */
  mergePatch(kind: KindInfo, key: ObjectKey, patch: object, options?: WriteOptions): Promise<KubeObject>;
  /** Server-side apply. */
  apply(
    kind: KindInfo,
    object: KubeObject,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<KubeObject>;
  /** Resolves when the server has accepted the deletion. Finalizers may delay it further. `false`: there is no such object. */
  delete(kind: KindInfo, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  /** Finds the resource of a kind through discovery; undefined when the server does not have it. */
  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined>;
}

export interface CommitStatus {
  readonly commit: string;
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  /** One sentence; forges cut it at 140 characters, so do we. */
  readonly description: string;
  /** Identifies our statuses: `berth/fleet`. */
  readonly context: string;
  /** The link of the status. Bitbucket requires one. */
  readonly targetUrl?: string | undefined;
  /** The open pull request whose head the commit is; Azure DevOps keeps statuses there. */
  readonly pullRequest?: number | undefined;
  /** For forges that show more than one sentence. */
  readonly report?: StatusReport | undefined;
}

/** The report of a check in addition to its description. */
export interface StatusReport {
  /** `neutral` lets a merge go on; `action-required` waits for an approval. */
  readonly conclusion: 'success' | 'neutral' | 'action-required' | 'failure';
  /** Markdown. */
  readonly summary: string;
  /** The most dangerous first. */
  readonly annotations: readonly StatusAnnotation[];
}

/** A remark on a line of a file. */
export interface StatusAnnotation {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly level: 'failure' | 'warning' | 'notice';
  readonly title: string;
  readonly message: string;
}

/** A pull request, on GitLab a merge request, as its forge has it now. */
export interface PullRequest {
  readonly number: number;
  readonly state: 'open' | 'merged' | 'closed';
  readonly draft: boolean;
  /** The account that opened it, in the words by which the forge distinguishes accounts: a name, or an id. */
  readonly author: string;
  /** Its head is in another repository than its base. */
  readonly fromFork: boolean;
  readonly baseBranch: string;
  /** Full id. */
  readonly headCommit: string;
  /**
   * Full id of the commit that the merge added to the base branch: a merge commit, or the last
   * commit of a squash or rebase.
   */
  readonly mergeCommit: string | undefined;
}

export interface ForgeComment {
  readonly id: string;
  readonly text: string;
}

/** The permission of an account in a repository. */
export type RepositoryPermission = 'none' | 'read' | 'write' | 'admin';

/**
 * The forge of one repository, as Berth uses it for pull requests. Failures are thrown:
 * TransientError (network, rate limits, 5xx, slow responses), InputError (`scm.auth`: the token is
 * refused or may not do this; `scm.refused`: other 4xx).
 */
export interface PullRequestForge {
  /** Maximum length of a comment, in characters. */
  readonly maxCommentLength: number;
  defaultBranch(signal: AbortSignal): Promise<string>;
  listOpen(signal: AbortSignal): Promise<readonly PullRequest[]>;
  /** Undefined if there is no pull request with this number. */
  read(number: number, signal: AbortSignal): Promise<PullRequest | undefined>;
  /** The comments of the account whose token is used that contain `marker`, oldest first. */
  ownComments(number: number, marker: string, signal: AbortSignal): Promise<readonly ForgeComment[]>;
  /** @returns its id */
  addComment(number: number, text: string, signal: AbortSignal): Promise<string>;
  /** @returns false if the comment no longer exists */
  editComment(number: number, id: string, text: string, signal: AbortSignal): Promise<boolean>;
  /** Folds a comment that is out of date where the forge can do that, else deletes it. */
  retireComment(number: number, id: string, signal: AbortSignal): Promise<void>;
  /** Writing a status again replaces it. */
  writeStatus(status: CommitStatus, signal: AbortSignal): Promise<void>;
  /** @param account as it is the author of a pull request, and of a comment that the forge reports */
  permissionOf(account: string, signal: AbortSignal): Promise<RepositoryPermission>;
}
