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
  /** Its name for display. */
  readonly authorName: string;
  readonly title: string;
  /** Its page for people, as the forge says; undefined if it does not. */
  readonly url: string | undefined;
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

/** What Berth thinks of a command in a comment. */
export type CommandReaction = 'accepted' | 'refused';

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
  /**
   * Puts a reaction on a comment of anybody. Doing it twice is the same as once, and a comment that is gone gets none.
   * Absent: the forge has no reactions.
   */
  react?(number: number, comment: string, reaction: CommandReaction, signal: AbortSignal): Promise<void>;
  /** Writing a status again replaces it. */
  writeStatus(status: CommitStatus, signal: AbortSignal): Promise<void>;
  /** The account of the token, as it is the author of a comment. */
  ownAccount(signal: AbortSignal): Promise<string>;
  /** @param account as it is the author of a pull request, and of a comment that the forge reports */
  permissionOf(account: string, signal: AbortSignal): Promise<RepositoryPermission>;
}
