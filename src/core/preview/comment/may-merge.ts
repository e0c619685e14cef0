import { brokenRules, denies, formatCount } from '../plan-text.ts';
import { formatNameList } from '@berth/runtime/text/name-list';
import { prose } from './foreign-text.ts';
import { planRows } from './plan-rows.ts';
import { type CommentApproval, heldCodes, type PreviewOutcome, previewVerdict } from './preview-outcome.ts';

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
      if (heldCodes(plan).length > 0)
        return 'Yes: everything that was held is approved, and happens with the merge.';
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
  return `Not yet: ${what} an approval. If you merge without it, everything else happens, and ${open === 1 ? 'this change waits' : 'these wait'} for the approval.`;
}
