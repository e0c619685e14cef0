/** A comment that was written on a pull request. */
export interface PullRequestComment {
  readonly number: number;
  readonly id: string;
  /** The account of the author: a name, or an id if the forge's names are not unique. */
  readonly author: string;
  /** The name for display, if `author` is an id. */
  readonly authorName?: string | undefined;
  readonly text: string;
}

/** A commit that a merge queue would put on a branch if its checks pass. */
export interface MergeGroup {
  /** Full ids. */
  readonly head: string;
  readonly base: string;
  readonly baseBranch: string;
}
