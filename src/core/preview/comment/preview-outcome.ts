import type { CommentApproval, Plan } from '../plan.ts';
import type { Problem } from '@berth/runtime/problem/problem';
import { brokenRules, denies, planHeadline, formatCount } from '../plan-text.ts';
import { formatNameList } from '@berth/runtime/text/name-list';
import { prose } from './foreign-text.ts';
import { planRows } from './plan-rows.ts';

/** The result of planning a pull request. */
export type PreviewOutcome =
  | {
      readonly kind: 'planned';
      readonly plan: Plan;
      /** The problems that the base does not have. */
      readonly problems: readonly Problem[];
      /** The head is in a fork, so details are omitted. */
      readonly summaryOnly: boolean;
    }
  /** There is no plan: the commits conflict, a limit was reached, or a file was refused. */
  | { readonly kind: 'unplanned'; readonly message: string; readonly hint?: string | undefined };

export interface PreviewVerdict {
  /** `stopped`: a guard rule denies the change, or a part of it would be held and is not approved. */
  readonly level: 'unchanged' | 'changes' | 'stopped' | 'failed';
  /** One sentence. Only the message of a failure contains foreign text. */
  readonly text: string;
}

/** The verdict of a preview in one line. */
export function previewVerdict(
  outcome: PreviewOutcome,
  approvals: readonly CommentApproval[],
): PreviewVerdict {
  if (outcome.kind === 'unplanned') return { level: 'failed', text: `No plan: ${outcome.message}` };
  const { plan, problems } = outcome;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const isOpen = ({ token }: Pick<CommentApproval, 'token'>): boolean =>
    !approvals.some((approval) => approval.token === token);
  const headline = planHeadline(
    plan,
    plan.placements.filter((one) => one.held !== undefined && isOpen(one)).length,
  );
  if (errors > 0)
    return {
      level: 'failed',
      text: `${errors === 1 ? '1 error' : `${errors} errors`} in the manifests. ${headline}`,
    };
  if (!plan.hasChanges) return { level: 'unchanged', text: 'Nothing moves, no object changes' };
  const codes = heldCodes(plan);
  const open = codes.filter((token) => isOpen({ token }));
  const denied = brokenRules(plan).filter(denies).length;
  const overridden = brokenRules(plan).filter((rule) => rule.overridden !== undefined).length;
  const text = [
    headline,
    ...(plan.deletionsHeld.some(isOpen) ? ['deletions would be held'] : []),
    ...addOnsText(plan.addOnsHeld.filter(isOpen)),
    ...approvedText(codes, approvals),
    ...(denied === 0 ? [] : [denied === 1 ? 'a guard rule denies it' : `${denied} guard rules deny it`]),
    ...(overridden === 0
      ? []
      : [overridden === 1 ? 'a guard rule is overridden' : `${overridden} guard rules are overridden`]),
  ].join('; ');
  if (open.length > 0 || denied > 0) return { level: 'stopped', text };
  return { level: 'changes', text };
}

/** `clusters would keep add-on hello`, if any is held. */
function addOnsText(held: Plan['addOnsHeld']): readonly string[] {
  if (held.length === 0) return [];
  return [`clusters would keep add-on ${formatNameList(held.map(({ addOn }) => addOn))}`];
}

/** `1 held change is approved by ada`, if any is. */
function approvedText(codes: readonly string[], approvals: readonly CommentApproval[]): readonly string[] {
  const given = approvals.filter(({ token }) => codes.includes(token));
  const count = new Set(given.map(({ token }) => token)).size;
  if (count === 0) return [];
  const by = formatNameList([...new Set(given.map((approval) => approval.by))]);
  return [`${formatCount(count, 'held change is', 'held changes are')} approved by ${by}`];
}

/** The hint of a failure as a sentence. */
export function hintSentence(hint: string): string {
  const end = /[.?!]$/.test(hint) ? '' : '.';
  return `${hint.slice(0, 1).toUpperCase()}${hint.slice(1)}${end}`;
}

/** The codes of everything in a plan that would be held. */
export function heldCodes({ placements, deletionsHeld, addOnsHeld }: Plan): readonly string[] {
  return [
    ...placements.filter(({ held }) => held !== undefined).map(({ token: code }) => code),
    ...[...deletionsHeld, ...addOnsHeld].map(({ token: code }) => code),
  ];
}

/** The answer to the question of a reviewer, with its reason, in one line. */
export function mayMergeText(outcome: PreviewOutcome, approvals: readonly CommentApproval[]): string {
  return `**May I merge?** ${mayMergeAnswer(outcome, approvals, IN_A_COMMENT)}`;
}

/** How a view writes foreign text, and marks what is dangerous. */
interface AnswerWords {
  readonly write: (text: string) => string;
  readonly danger: string;
  readonly warning: string;
}

const IN_A_COMMENT: AnswerWords = { write: (text) => prose(text), danger: '🔴', warning: '🟡' };

/** The answer alone. */
export function mayMergeAnswer(
  outcome: PreviewOutcome,
  approvals: readonly CommentApproval[],
  words: AnswerWords,
): string {
  if (outcome.kind === 'unplanned') return 'No: it is unknown what it would do.';
  const { plan } = outcome;
  const broken = brokenRules(plan);
  switch (previewVerdict(outcome, approvals).level) {
    case 'failed':
      return 'No: the manifests have errors.';
    case 'unchanged':
      return 'Yes: nothing moves.';
    case 'stopped': {
      const denying = broken.filter(denies);
      if (denying.length === 0) return openText(outcome, approvals);
      const owners = [...new Set(denying.flatMap((rule) => rule.owners))];
      const whom = owners.length === 0 ? '' : ` (ask ${words.write(formatNameList(owners))})`;
      return `No: ${denying.length === 1 ? 'a guard rule denies it' : `${denying.length} guard rules deny it`}${whom}.`;
    }
    case 'changes': {
      if (heldCodes(plan).length > 0) return 'Yes: all that was held is approved, and the merge does it.';
      const marks = [
        ...plan.findings.map(({ severity }) => severity),
        ...planRows(plan).map(({ risk }) => risk?.level),
      ];
      const mark = marks.includes('danger')
        ? words.danger
        : marks.includes('warning')
          ? words.warning
          : undefined;
      if (mark !== undefined)
        return `Yes, if you accept what is marked ${mark}: no rule denies it${broken.some(({ overridden }) => overridden !== undefined) ? ' any more' : ''}, and nothing is held.`;
      if (broken.some(({ overridden }) => overridden !== undefined))
        return 'Yes: an owner has overridden the guard rule, and nothing is held.';
      if (broken.length > 0) return 'Yes, if you accept the warning of a guard rule: nothing is held.';
      return 'Yes: no rule denies it, nothing is held, and no workload loses its data or its last cluster.';
    }
  }
}

function openText(
  { plan }: PreviewOutcome & { readonly kind: 'planned' },
  approvals: readonly CommentApproval[],
): string {
  const open = heldCodes(plan).filter((code) => !approvals.some(({ token }) => token === code)).length;
  const what = formatCount(open, 'held change needs', 'held changes need');
  return `Not yet: ${what} an approval. If you merge before that, ${open === 1 ? 'it waits' : 'they wait'}, and everything else happens.`;
}
