import { compareText } from '@berth/runtime/text/compare-text';
import type { FindingCode, PlanFinding } from '../plan-verdict.ts';
import { approvedChange } from './approved-change.ts';
import { dataRisks } from './data-risks.ts';
import { placementRisks } from './placement-risks.ts';
import { referenceRisks } from './reference-risks.ts';
import { type Locate, locator, type RiskInput } from './risk-input.ts';
import { workloadRisks } from './workload-risks.ts';

/** The most dangerous first. */
const ORDER: readonly FindingCode[] = [
  'cluster-unregistered',
  'data-lost',
  'placement-emptied',
  'last-cluster',
  'removals-over-budget',
  'deletions-held',
  'file-lost',
  'work-stranded',
  'held',
  'misconfigured',
  'applicationset-fails',
  'unknown-to-argocd',
  'unknown-cluster',
  'unsatisfied',
  'unknown-set',
  'unknown-score',
  'score-expired',
];

const SEVERITIES: readonly PlanFinding['severity'][] = ['danger', 'warning', 'notice'];

/**
 * The risks of a change, the most dangerous first. Only risks that the change introduces. Those that it has only when what
 * would be held is approved say so.
 */
export function assessPlan(input: RiskInput): readonly PlanFinding[] {
  const locate = locator(input);
  const sure = [
    ...placementRisks(input, locate),
    ...contentRisks(input, locate),
    ...referenceRisks(input, locate),
  ];
  const said = new Set(sure.map(textOf));
  const approved = approvedChange(input);
  const later = (approved === undefined ? [] : contentRisks(approved, locate)).filter(
    (finding) => !said.has(textOf(finding)),
  );
  return [...sure, ...later.map(ifApproved)].sort(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      ORDER.indexOf(a.code) - ORDER.indexOf(b.code) ||
      compareText(a.subject, b.subject) ||
      compareText(a.message, b.message),
  );
}

/** What happens to workloads and to their data. */
function contentRisks(input: RiskInput, locate: Locate): readonly PlanFinding[] {
  return [...workloadRisks(input, locate), ...dataRisks(input, locate)];
}

function ifApproved(finding: PlanFinding): PlanFinding {
  const message = finding.message.replace(/^(It|All|The) /, (word) => word.toLowerCase());
  return { ...finding, ifApproved: true, message: `If approved: ${message}` };
}

function textOf({ code, subject, message }: PlanFinding): string {
  return `${code} ${subject} ${message}`;
}
