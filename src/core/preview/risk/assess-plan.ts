import { compareText } from '../../compare-text.ts';
import type { FindingCode, PlanFinding } from '../plan-verdict.ts';
import { dataRisks } from './data-risks.ts';
import { placementRisks } from './placement-risks.ts';
import { referenceRisks } from './reference-risks.ts';
import { locator, type RiskInput } from './risk-input.ts';
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

/** The risks of a change, the most dangerous first. Only risks that the change introduces. */
export function assessPlan(input: RiskInput): readonly PlanFinding[] {
  const locate = locator(input);
  return [
    ...placementRisks(input, locate),
    ...workloadRisks(input, locate),
    ...dataRisks(input, locate),
    ...referenceRisks(input, locate),
  ].sort(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      ORDER.indexOf(a.code) - ORDER.indexOf(b.code) ||
      compareText(a.subject, b.subject) ||
      compareText(a.message, b.message),
  );
}
