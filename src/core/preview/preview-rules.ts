/** How the pull requests of a repository are previewed. */
export interface PreviewRules {
  /** `off`: only when an account that may write asks for it; `summary`: always. Never more than a summary. */
  readonly forks: 'off' | 'summary';
  readonly drafts: boolean;
  /** Who may approve held changes by a comment. */
  readonly approvers: 'write' | 'admin';
  /** The author of a pull request may approve what it makes held. */
  readonly selfApproval: boolean;
  /** After the merge a change that takes clusters away and is another than the plan said is held. */
  readonly holdToPlan: boolean;
}
