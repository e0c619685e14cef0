import type { Problem } from '@berth/runtime/problem/problem';
import type { Plan } from '../plan.ts';
import { brokenRules, denies, planHeadline } from '../plan-text.ts';

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

/** A held change that was approved by a comment. */
export interface CommentApproval {
  readonly token: string;
  /** The account at the forge. */
  readonly by: string;
}

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
  if (errors > 0)
    return {
      level: 'failed',
      text: `${errors === 1 ? '1 error' : `${errors} errors`} in the manifests. ${planHeadline(plan)}`,
    };
  if (!plan.hasChanges) return { level: 'unchanged', text: 'Nothing moves, no object changes' };
  const codes = heldCodes(plan);
  const open = codes.filter((code) => !approvals.some((approval) => approval.token === code));
  const deletions = plan.deletionsHeld.length;
  const denied = brokenRules(plan).filter(denies).length;
  const overridden = brokenRules(plan).filter((rule) => rule.overridden !== undefined).length;
  const text = [
    planHeadline(plan),
    ...(deletions === 0 ? [] : ['deletions would be held']),
    ...(denied === 0 ? [] : [denied === 1 ? 'a guard rule denies it' : `${denied} guard rules deny it`]),
    ...(overridden === 0
      ? []
      : [overridden === 1 ? 'a guard rule is overridden' : `${overridden} guard rules are overridden`]),
  ].join('; ');
  if (open.length > 0 || denied > 0) return { level: 'stopped', text };
  const approved = codes.length === 1 ? 'it is approved' : `all ${codes.length} are approved`;
  return { level: 'changes', text: codes.length === 0 ? text : `${text}; ${approved}` };
}

/** The hint of a failure as a sentence. */
export function hintSentence(hint: string): string {
  const end = /[.?!]$/.test(hint) ? '' : '.';
  return `${hint.slice(0, 1).toUpperCase()}${hint.slice(1)}${end}`;
}

/** The codes of everything in a plan that would be held. */
export function heldCodes({ placements, deletionsHeld }: Plan): readonly string[] {
  return [
    ...placements.filter(({ held }) => held !== undefined).map(({ token: code }) => code),
    ...deletionsHeld.map(({ token: code }) => code),
  ];
}
