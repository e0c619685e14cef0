import type { StatusAnnotation, StatusReport, CommitStatus } from '@berth/forge/contract/pull-request-forge';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import { describeProblem } from '../../sources/describe-problem.ts';
import { WOULD_BE_HELD } from '../risk/assess-plan.ts';
import { brokenRules, denies as isDenying, ruleText } from '../plan-text.ts';
import type { Plan, CommentApproval } from '../plan.ts';
import type { PlanFinding, RuleResult } from '../plan-verdict.ts';
import { visible } from './foreign-text.ts';
import { hintSentence, type PreviewOutcome, previewVerdict } from './preview-outcome.ts';

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
  return {
    conclusion: conclusionOf(outcome, approvals),
    summary,
    annotations: annotationsOf(outcome, approvals),
  };
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
      return broken.some(isDenying) ? 'failure' : 'action-required';
    case 'changes':
      return broken.length > 0 ? 'neutral' : 'success';
  }
}

/** Errors, broken rules and risks at their lines. For a fork, only the reasons why it cannot be planned. */
function annotationsOf(
  outcome: PreviewOutcome,
  approvals: readonly CommentApproval[],
): readonly StatusAnnotation[] {
  if (outcome.kind === 'unplanned') return [];
  const { plan, problems, summaryOnly } = outcome;
  const remarks = problems.flatMap((problem) => {
    const { severity, sentence, hint, location } = describeProblem(problem);
    const text = hint === undefined ? sentence : `${sentence}. ${hintSentence(hint)}`;
    return remark(LEVELS[severity], problem.code, text, location);
  });
  const others = [
    ...brokenRules(plan).flatMap((rule) =>
      remark(isDenying(rule) ? 'failure' : 'warning', `rule ${rule.name}`, ruleText(rule), rule.location),
    ),
    ...plan.findings.flatMap((finding) => {
      const { severity, code, subject, message, location } = finding;
      const by = approverOf(plan, approvals, finding);
      return by === undefined
        ? remark(LEVELS[severity], code, `${subject}: ${message}`, location)
        : remark(
            'notice',
            code,
            `${subject}: ${message.replace(WOULD_BE_HELD, `Approved by ${by}`)}`,
            location,
          );
    }),
  ];
  return [...remarks, ...(summaryOnly ? [] : others)]
    .toSorted((a, b) => RANKS[a.level] - RANKS[b.level])
    .slice(0, MAX_ANNOTATIONS);
}

/** Who approved the held change of a placement that the finding is of. */
function approverOf(
  { placements }: Plan,
  approvals: readonly CommentApproval[],
  { code, subject }: PlanFinding,
): string | undefined {
  if (code !== 'held' && code !== 'removals-over-budget') return undefined;
  const placement = placements.find(({ namespace, name }) => subject === `Placement ${namespace}/${name}`);
  return approvals.find(({ token }) => token === placement?.token)?.by;
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

/** The result of one guard rule for a pull request. */
interface RuleStatus extends Pick<CommitStatus, 'state' | 'description'> {
  /** The name of the rule, as in its file. */
  readonly name: string;
  readonly report: StatusReport;
}

/**
 * One status for each guard rule. A status that a branch requires must always be written, or nothing can be merged.
 * Therefore a removed rule passes, and without a plan all rules fail. The rules of the base apply; a rule that only the
 * pull request has passes until it is merged. A plan without changes breaks no rule.
 * @param known names of all rules that ever had a status
 */
export function ruleStatuses(outcome: PreviewOutcome, known: readonly string[]): readonly RuleStatus[] {
  const plan = outcome.kind === 'planned' ? outcome.plan : undefined;
  const rules = plan?.rules;
  const judged = (rules?.base ?? []).map((rule) =>
    plan?.hasChanges === false
      ? status(rule.name, 'success', 'Nothing moves, no object changes')
      : judgedStatus(rule),
  );
  const names = new Set(judged.map(({ name }) => name));
  const added = (rules?.head ?? []).filter(({ name }) => !names.has(name)).map(addedStatus);
  for (const { name } of added) names.add(name);
  const others = known
    .filter((name) => !names.has(name))
    .map((name) =>
      outcome.kind === 'planned'
        ? status(name, 'success', 'There is no such rule any more')
        : status(name, 'failure', 'Not judged: there is no plan'),
    );
  return [...judged, ...added, ...others];
}

function judgedStatus(rule: RuleResult): RuleStatus {
  const { name, outcome, location } = rule;
  if (outcome === 'kept') return status(name, 'success', 'Kept');
  const text = visible(ruleText(rule));
  const denies = isDenying(rule);
  const level = denies ? ('failure' as const) : ('warning' as const);
  const { file, line } = location;
  const annotations = [{ file, line, level, title: visible(`rule ${name}`), message: text }];
  return {
    ...{ name, state: denies ? 'failure' : 'success', description: capital(text) },
    report: { conclusion: denies ? 'failure' : 'neutral', summary: capital(text), annotations },
  };
}

function addedStatus({ name, outcome }: RuleResult): RuleStatus {
  const then = outcome === 'kept' ? 'keeps' : 'would break';
  return status(name, 'success', `New in this pull request, which ${then} it; it applies after the merge`);
}

function status(name: string, state: 'success' | 'failure', description: string): RuleStatus {
  return { name, state, description, report: { conclusion: state, summary: description, annotations: [] } };
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
