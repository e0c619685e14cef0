import type { ExpectedPlacement } from '../../../core/preview/comment/merge-comparison.ts';
import type { CommentApproval } from '../../../core/preview/comment/preview-outcome.ts';

/** What is remembered of a pull request, across restarts. Plain JSON. */
export interface PreviewRecord {
  /** Full ids: the head and the tip of the base that were planned; '' when none was. */
  readonly head: string;
  readonly base: string;
  /** Names what of the hub it was planned on, and what the plan said. Absent in records of earlier versions. */
  readonly planned?: { readonly state: string; readonly digest: string } | undefined;
  /** The preview's comment, and a digest of its text. */
  readonly comment?: { readonly id: string; readonly digest: string } | undefined;
  /** Full id of what the merge leaves in the repository; absent where there is no plan. */
  readonly tree?: string | undefined;
  /** What the plan said; empty where there is none. */
  readonly expected: readonly ExpectedPlacement[];
  /** Sources whose deletions would be held, with the token. */
  readonly heldDeletions: readonly { readonly source: string; readonly token: string }[];
  readonly approvals: readonly CommentApproval[];
  /** How often somebody asked for a plan of the same commits again, and which of these requests the comment answers. */
  readonly asked: number;
  readonly answered: number;
  /** Digests of the statuses of guard rules that the head has; undefined: not all are written. */
  readonly statuses?: readonly string[] | undefined;
  /** The last command that was refused, and why. */
  readonly refusal?: string | undefined;
  /** An account with the right to write asked for a plan of this head, which is in a fork. */
  readonly allowedHead?: string | undefined;
  /** Set when it was merged. */
  readonly merge?: RecordedMerge | undefined;
  /** When a merged or closed pull request needs no more attention. */
  readonly endedAtMs?: number | undefined;
}

/** Times are milliseconds since the epoch. */
export interface RecordedMerge {
  /** Full id of what the merge put on the base branch. */
  readonly commit: string;
  readonly baseBranch: string;
  readonly seenAtMs: number;
  /** When the hub was first seen to follow it. */
  readonly followedAtMs?: number | undefined;
}

export const NO_RECORD: PreviewRecord = {
  head: '',
  base: '',
  expected: [],
  heldDeletions: [],
  approvals: [],
  asked: 0,
  answered: 0,
};
