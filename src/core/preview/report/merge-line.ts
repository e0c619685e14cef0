import type { ApprovalCommand } from '../comment/approval-blocks.ts';
import { markup } from '../comment/foreign-text.ts';
import { mayMergeAnswer, type PreviewOutcome } from '../comment/preview-outcome.ts';
import type { CommentApproval } from '../plan.ts';

/** What is known of a plan beside its outcome. Plain JSON. */
export interface Reportable {
  readonly approvals: readonly CommentApproval[];
  /** Absent: nothing waits for an approval, or no comment is read. */
  readonly approve?: ApprovalCommand | undefined;
  /** Absent: the pull request is not merged, or the plan is of none. */
  readonly merged?: MergedPlan | undefined;
}

/** What a merge did. */
export interface MergedPlan {
  /** Full id of the commit that it put on the branch. */
  readonly commit: string;
  /** As the status of that commit: `As the plan said`. */
  readonly text: string;
  readonly isHeld: boolean;
}

const IN_A_PAGE = { write: (text: string) => markup(text), danger: '“danger”', warning: '“warning”' };

/** Before the merge whether it may be made, afterwards what it did: HTML, as the comment says it. */
export function mergeHtml(outcome: PreviewOutcome, { approvals, merged }: Reportable): string {
  return merged === undefined
    ? `<strong>May I merge?</strong> ${mayMergeAnswer(outcome, approvals, IN_A_PAGE)}`
    : `<strong>Merged</strong> as <code>${markup(merged.commit.slice(0, 12))}</code>. ${markup(merged.text)}.`;
}
