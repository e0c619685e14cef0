/** A comment that was written on a pull request. */
export interface PullRequestComment {
  readonly number: number;
  /** The account that wrote it: a name, or an id where names are not unique. */
  readonly author: string;
  /** What people call it, where `author` is an id. */
  readonly authorName?: string | undefined;
  readonly text: string;
}

/** What a merge queue would put on a branch, if the checks of it pass. */
export interface MergeGroup {
  /** Full ids. */
  readonly head: string;
  readonly base: string;
  readonly baseBranch: string;
}
