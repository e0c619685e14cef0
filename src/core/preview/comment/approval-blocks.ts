import { type Digest, jointCode } from '../../publish/approval/approval-code.ts';
import { otherFindings } from '../plan-text.ts';
import type { PlanFinding } from '../plan-verdict.ts';
import { IF_APPROVED } from '../risk/assess-plan.ts';
import { addOnEffect, approvalEffect, deletionsEffect } from '../placement-words.ts';
import type { HeldDeletions, PlacementPlan, Plan, PlannedHold, CommentApproval } from '../plan.ts';
import type { PreviewRules } from '../preview-rules.ts';
import { listBlock, type ListBlock, names } from './comment-blocks.ts';
import { code, prose } from './foreign-text.ts';
import { heldCodes, type PreviewOutcome } from './preview-outcome.ts';
import { planRows } from './plan-rows.ts';

/** How replies are read as commands. */
export interface ReadCommands {
  readonly digest: Digest;
  readonly rules: Pick<PreviewRules, 'approvers' | 'selfApproval'>;
}

/** The part of a comment about the approval of what is held. */
export interface Approvable {
  readonly approvals: readonly CommentApproval[];
  readonly commands?: ReadCommands | undefined;
}

/** The comment that approves all that is held of a plan. */
export interface ApprovalCommand {
  readonly which: 'it' | 'all of them';
  readonly command: string;
  /** Who may write it, as a sentence. */
  readonly who: string;
}

/** More holds are counted; the table and the report have them, too. */
const MAX_HELD = 20;

/** How what is held is approved, by whom, and with what command. Its length does not depend on how much is held. */
export function approvalBlocks({
  outcome,
  approvals,
  commands,
}: Approvable & { readonly outcome: PreviewOutcome }): readonly string[] {
  if (outcome.kind === 'unplanned') return [];
  const open = openCodes(outcome.plan, approvals).length;
  if (open === 0) return [];
  const what =
    open === 1
      ? '1 change is held until somebody approves it'
      : `${open} changes are held until somebody approves them`;
  const found = approvalCommand(outcome.plan, { approvals, commands });
  if (found === undefined) return [`✋ **${what}.**`];
  return [`✋ **${what}.** Approve ${found.which} with the comment ${code(found.command)}. ${found.who}`];
}

/** The one command that approves all that is held; undefined where nothing waits, or where no comment is read. */
export function approvalCommand(
  plan: Plan,
  { approvals, commands }: Approvable,
): ApprovalCommand | undefined {
  const codes = heldCodes(plan);
  if (commands === undefined || openCodes(plan, approvals).length === 0) return undefined;
  const joint = jointCode(commands.digest, codes);
  if (joint === undefined) return undefined;
  const which = codes.length === 1 ? 'it' : 'all of them';
  return { which, command: `/berth approve ${joint}`, who: whoText(commands.rules) };
}

/** The risks that are shown by themselves. Where all is approved, a risk of an approval is one of the merge. */
export function approvedFindings(plan: Plan, approvals: readonly CommentApproval[]): readonly PlanFinding[] {
  const findings = otherFindings(plan);
  if (openCodes(plan, approvals).length > 0) return findings;
  return findings.map((finding) => ({
    ...finding,
    message: finding.message.replace(IF_APPROVED, 'As approved: '),
  }));
}

function openCodes(plan: Plan, approvals: readonly CommentApproval[]): readonly string[] {
  return heldCodes(plan).filter((one) => !approvals.some(({ token }) => token === one));
}

function whoText({ approvers, selfApproval }: ReadCommands['rules']): string {
  const who =
    approvers === 'admin'
      ? 'An administrator of this repository'
      : 'Anybody who may write to this repository';
  return `${who} can do that${selfApproval ? '' : ', but not the author of this pull request'}.`;
}

/** What is held, why, and what an approval would do: the most dangerous first. */
export function heldBlocks(plan: Plan, { approvals, commands }: Approvable): readonly ListBlock[] {
  const takesCommands = commands !== undefined;
  const approval = (token: string): { readonly who: string; readonly end: string } => {
    const found = approvals.find((one) => one.token === token);
    return found === undefined
      ? { who: 'Approving', end: '' }
      : { who: 'The merge', end: ` Approved by ${code(found.by)}.` };
  };
  const deletions = plan.deletionsHeld.map((held) => {
    const { who, end } = approval(held.token);
    const effect = `**${who} ${deletionsEffect(plan, names)}.**`;
    return `- **Deletions of source ${code(held.source)}**: ${problemText(held)} ${effect}${remedyText(held, takesCommands)}${end}`;
  });
  const placements = planRows(plan).flatMap(({ plan: placement, why }) => {
    const { held, token } = placement;
    if (held === undefined) return [];
    const { who, end } = approval(token);
    return [`- ${heldText(placement, held, who, why)}${remedyText(held, takesCommands)}${end}`];
  });
  const addOns = plan.addOnsHeld.map((held) => {
    const { who, end } = approval(held.token);
    const effect = `**${who} ${addOnEffect(held, names)}.**`;
    return `- **Add-on ${code(held.addOn)}**: ${problemText(held)} ${effect}${remedyText(held, takesCommands)}${end}`;
  });
  return listBlock([...deletions, ...placements, ...addOns], MAX_HELD, 'held change');
}

function heldText(placement: PlacementPlan, held: PlannedHold, who: string, why: string): string {
  const subject = code(`${placement.namespace}/${placement.name}`);
  const reason = why === '' || held.reason === 'Misconfigured' ? '' : `${prose(why)}. `;
  const better =
    held.reason === 'Misconfigured'
      ? ' To keep its clusters, correct the placement instead of approving.'
      : '';
  return `**${subject}**: ${reason}${problemText(held)}${better} **${who} ${approvalEffect(placement, subject, names)}.**`;
}

/** Without the part that says how to approve it. */
function problemText({ message, remedy }: Pick<HeldDeletions, 'message' | 'remedy'>): string {
  return prose(remedy === undefined ? message : message.replace(remedy, '').trim(), Infinity);
}

/** A reader of the pull request approves it with a comment, and needs no other way. Elsewhere there is only the other way. */
function remedyText({ remedy }: Pick<HeldDeletions, 'remedy'>, takesCommands: boolean): string {
  return takesCommands || remedy === undefined ? '' : ` ${prose(remedy, Infinity)}`;
}
