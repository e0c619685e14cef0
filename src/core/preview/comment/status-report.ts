import type { StatusAnnotation, StatusReport } from '@berth/forge/contract/pull-request-forge';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import { brokenRules, ruleText } from '../plan-text.ts';
import { visible } from './foreign-text.ts';
import { type CommentApproval, type PreviewOutcome, previewVerdict } from './preview-outcome.ts';

const LEVELS = { danger: 'failure', warning: 'warning', notice: 'notice', error: 'failure' } as const;
const RANKS = { failure: 0, warning: 1, notice: 2 } as const;
/** More annotations would not be read. */
const MAX_ANNOTATIONS = 200;

/** The content of a check for a preview. @param summary Markdown */
export function statusReport(
  outcome: PreviewOutcome,
  approvals: readonly CommentApproval[],
  summary: string,
): StatusReport {
  return { conclusion: conclusionOf(outcome, approvals), summary, annotations: annotationsOf(outcome) };
}

function conclusionOf(
  outcome: PreviewOutcome,
  approvals: readonly CommentApproval[],
): StatusReport['conclusion'] {
  const { level } = previewVerdict(outcome, approvals);
  const broken = outcome.kind === 'planned' ? brokenRules(outcome.plan) : [];
  switch (level) {
    case 'unchanged':
      return 'success';
    case 'failed':
      return 'failure';
    case 'stopped':
      // A hold needs an action; a broken rule is a failure.
      return broken.some(({ effect }) => effect === 'deny') ? 'failure' : 'action-required';
    case 'changes':
      return broken.length > 0 ? 'neutral' : 'success';
  }
}

/** Errors, broken rules and risks at their lines. For a fork, only the reasons why it cannot be planned. */
function annotationsOf(outcome: PreviewOutcome): readonly StatusAnnotation[] {
  if (outcome.kind === 'unplanned') return [];
  const { plan, problems, summaryOnly } = outcome;
  const remarks = problems.flatMap(({ severity, code, message, location }) =>
    remark(LEVELS[severity], code, message, location),
  );
  const others = [
    ...brokenRules(plan).flatMap((rule) =>
      remark(
        rule.effect === 'deny' ? 'failure' : 'warning',
        `rule ${rule.name}`,
        ruleText(rule),
        rule.location,
      ),
    ),
    ...plan.findings.flatMap(({ severity, code, subject, message, location }) =>
      remark(LEVELS[severity], code, `${subject}: ${message}`, location),
    ),
  ];
  return [...remarks, ...(summaryOnly ? [] : others)]
    .toSorted((a, b) => RANKS[a.level] - RANKS[b.level])
    .slice(0, MAX_ANNOTATIONS);
}

function remark(
  level: StatusAnnotation['level'],
  title: string,
  message: string,
  location: SourceLocation | undefined,
): readonly StatusAnnotation[] {
  if (location === undefined) return [];
  const { file, line } = location;
  return [{ file, line, level, title: visible(title), message: visible(message) }];
}
