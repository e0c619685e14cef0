import { remediation } from '../../publish/judge/judge-result.ts';
import { brokenRules, changedRulesText, lostFileText, otherFindings, ruleMessage } from '../plan-text.ts';
import type { PlacementPlan, Plan } from '../plan.ts';
import { items } from './comment-blocks.ts';
import { code, prose } from './foreign-text.ts';
import type { CommentApproval } from './preview-outcome.ts';

const [MAX_QUOTES, MAX_FINDINGS] = [100, 20] as const;
/** The part of the comment about the approval of a hold. */
interface Approvable {
  readonly approvals: readonly CommentApproval[];
  /** Whether a comment can approve it. */
  readonly takesCommands: boolean;
}

const MARKS = { danger: '🔴', warning: '🟡', notice: '🔵' } as const;

/**
 * What a reader must see before the merge: the rules that deny, the holds and how to approve them, and the other risks.
 */
export function riskBlocks(plan: Plan, comment: Approvable): readonly string[] {
  return [...ruleBlocks(plan), ...heldBlocks(plan, comment), ...findingBlocks(plan)];
}

function ruleBlocks(plan: Plan): readonly string[] {
  const broken = brokenRules(plan).map(
    (rule) =>
      `> ${rule.effect === 'deny' ? '⛔ **Denied by rule' : '⚠️ **Warning of rule'} ${code(rule.name)}**: ${prose(ruleMessage(rule))}`,
  );
  const changed = changedRulesText(plan);
  return bounded([...broken, ...(changed === '' ? [] : [`> ${prose(changed)}`])]);
}

function heldBlocks(plan: Plan, { approvals, takesCommands }: Approvable): readonly string[] {
  const approval = (token: string): string => {
    const found = approvals.find((one) => one.token === token);
    if (found !== undefined) return ` Approved by ${code(found.by)}.`;
    return takesCommands ? ` Approve it with the comment ${code(`/berth approve ${token}`)}.` : '';
  };
  // A reader of the pull request approves it with a comment, and needs no other way.
  const messageOf = (one: Pick<PlacementPlan, 'namespace' | 'name' | 'token'>, message: string): string =>
    takesCommands ? message.replace(` ${remediation(one, one.token)}`, '') : message;
  const held = plan.placements.flatMap(({ namespace, name, held: hold, token }) =>
    hold === undefined
      ? []
      : [
          `> **${code(`${namespace}/${name}`)} would be held** (${prose(hold.reason)}): ${prose(messageOf({ namespace, name, token }, hold.message))}${approval(token)}`,
        ],
  );
  const deletions = plan.deletionsHeld.map(
    ({ source, message, token }) =>
      `> **Deletions of source ${code(source)} would be held**: ${prose(message)}${approval(token)}`,
  );
  const files = plan.lostFiles.map((lost) => `> **File lost**: ${prose(lostFileText(lost))}`);
  const all = [...deletions, ...held, ...files];
  return bounded(all);
}

function findingBlocks(plan: Plan): readonly string[] {
  const lines = otherFindings(plan).map(
    ({ severity, subject, message }) => `- ${MARKS[severity]} ${code(subject)}: ${prose(message)}`,
  );
  return lines.length === 0 ? [] : [items(lines, MAX_FINDINGS)];
}

function bounded(quotes: readonly string[]): readonly string[] {
  if (quotes.length <= MAX_QUOTES) return quotes;
  return [...quotes.slice(0, MAX_QUOTES), `> … and ${quotes.length - MAX_QUOTES} more.`];
}
