/** How the pull requests of a repository are planned. */
export interface PreviewRules {
  /**
   * `off`: only if an account with the right to write asks for it. `summary`: always. The plan is never more than a
   * summary.
   */
  readonly forks: 'off' | 'summary';
  readonly drafts: boolean;
  /** Who may approve held changes by a comment. */
  readonly approvers: 'write' | 'admin';
  /** The author of a pull request may approve its held changes. */
  readonly selfApproval: boolean;
  /** After the merge, a change that removes clusters and differs from the plan is held. */
  readonly holdToPlan: boolean;
}
