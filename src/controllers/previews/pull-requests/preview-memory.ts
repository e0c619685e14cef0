import type {
  ExpectedAddOn,
  ExpectedPlacement,
  HeldAfterMerge,
} from '../../../core/preview/comment/merge-comparison.ts';
import type { DeniedChange, RuleOverride } from '../../../core/preview/rules/override-rules.ts';
import type { LaterChange, CommentApproval } from '../../../core/preview/plan.ts';
import type { LaterRollout } from '../../../core/preview/later/later-texts.ts';
import type { MergeResult } from '../../../core/preview/comment/merge-result.ts';

/** What Berth remembers of a pull request, also after a restart. Plain JSON. */
export interface PreviewMemory {
  /** Full ids of the head and of the tip of the base that were planned; '' if none was planned. */
  readonly head: string;
  readonly base: string;
  /** Digests of the state of the hub that the plan was made on, and of the plan. Absent in memories of earlier versions. */
  readonly planned?: { readonly state: string; readonly digest: string } | undefined;
  /** The comment of the preview, and a digest of its text. */
  readonly comment?: { readonly id: string; readonly digest: string } | undefined;
  /** Full id of what the merge leaves in the repository; absent where there is no plan. */
  readonly tree?: string | undefined;
  /** The decisions that the plan predicted; empty without a plan. */
  readonly expected: readonly ExpectedPlacement[];
  /** What the plan said happens later. Absent in memories of earlier versions. */
  readonly later?: readonly LaterChange[] | undefined;
  /** The rollouts that it said go on after the merge. Absent: none. */
  readonly laterRollouts?: readonly LaterRollout[] | undefined;
  /** The plan changes clusters, sets or scores itself. */
  readonly changesFleet?: true | undefined;
  /** Sources whose deletions would be held, with the code of the hold. */
  readonly heldDeletions: readonly { readonly source: string; readonly token: string }[];
  /** Add-ons that clusters lose by the plan. Absent in memories of earlier versions. */
  readonly addOns?: readonly ExpectedAddOn[] | undefined;
  readonly approvals: readonly CommentApproval[];
  /**
   * How many times somebody asked for another plan of the same commits, and the last of these requests that the comment
   * answers.
   */
  readonly asked: number;
  readonly answered: number;
  /** Digests of the rule statuses that the head has; undefined if not all of them are written. */
  readonly statuses?: readonly string[] | undefined;
  /** Full id of the head whose status says that it is being planned. */
  readonly planning?: string | undefined;
  /** What guard rules deny, of the last plan. */
  readonly denied?: DeniedChange | undefined;
  readonly overrides?: readonly RuleOverride[] | undefined;
  /** Approvals of earlier plans that do not apply any more, and were not given again. */
  readonly lapsed?: readonly LapsedApproval[] | undefined;
  /** Approval codes of earlier plans, the latest last. */
  readonly pastCodes?: readonly string[] | undefined;
  /** Accounts without the right to write that were told so. */
  readonly strangers?: readonly string[] | undefined;
  /** How many commands were answered since this time. */
  readonly answers?: { readonly sinceMs: number; readonly count: number } | undefined;
  /** The head in a fork that an account with write access asked to plan. */
  readonly allowedHead?: string | undefined;
  /** Present after the merge. */
  readonly merge?: SeenMerge | undefined;
  /** When the merged or closed pull request was finished. */
  readonly endedAtMs?: number | undefined;
}

export interface LapsedApproval {
  /** `approval of team-a/web`, `override of rule few` */
  readonly of: string;
  readonly by: string;
  /** Goes on a sentence. */
  readonly because: string;
}

/** Times are milliseconds since the epoch. */
export interface SeenMerge {
  /** Full id of the commit that the merge put on the base branch. */
  readonly commit: string;
  readonly baseBranch: string;
  readonly seenAtMs: number;
  /** When the hub was first seen to follow this commit. */
  readonly followedAtMs?: number | undefined;
  /** When an approval was last carried out. */
  readonly releasedAtMs?: number | undefined;
  /** The state of the hub when the merge was seen; see `PullRequestPreviewsOptions`. */
  readonly state?: string | undefined;
  /** What was reported first. From then on, only what was held then is followed up. */
  readonly reported?: ReportedMerge | undefined;
  /** The comment about it, and a digest of its text. */
  readonly notice?: PreviewMemory['comment'];
}

interface ReportedMerge extends Pick<MergeResult, 'differences' | 'ended'> {
  /** What is still held. */
  readonly held: readonly Pick<HeldAfterMerge, 'what' | 'token'>[];
}

export const NO_MEMORY: PreviewMemory = {
  head: '',
  base: '',
  expected: [],
  heldDeletions: [],
  approvals: [],
  asked: 0,
  answered: 0,
};
