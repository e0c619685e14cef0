import type { Problem } from '@berth/runtime/problem/problem';
import type { CaseOutcome } from '../../placement-test/run-placement-test.ts';
import { renderJunit } from '../../placement-test/render-report.ts';
import { problemText } from '../../sources/describe-problem.ts';
import type { Plan } from '../plan.ts';
import { ruleText } from '../plan-text.ts';

/** A plan as a test report: rules, risks and problems of the head are test cases. Warnings pass. */
export function renderPlanJunit(plan: Plan, problems: readonly Problem[]): string {
  const rules = (plan.rules?.base ?? []).map((rule) =>
    caseOf(`rule ${rule.name}`, rule.outcome !== 'kept' && rule.effect === 'deny' ? [ruleText(rule)] : []),
  );
  const findings = plan.findings.map(({ code, severity, subject, message }) =>
    caseOf(`${code}: ${subject}`, severity === 'danger' ? [message] : []),
  );
  const errors = problems.map((problem) =>
    caseOf(`problem ${problem.code}`, problem.severity === 'error' ? [problemText(problem)] : []),
  );
  const placements = plan.placements.map(({ namespace, name }) => caseOf(`${namespace}/${name}`, []));
  const name = `${plan.base.name} → ${plan.head.name}`;
  const cases = [...rules, ...findings, ...errors, ...placements];
  return renderJunit([{ file: '', name, cases, problems: [], assumed: [], durationMs: 0 }], 'berth plan');
}

function caseOf(name: string, failures: readonly string[]): CaseOutcome {
  return { name, placement: '', failures, error: undefined };
}
