import type { PlacementPlan } from '../plan.ts';
import { formatCount, lostFileText } from '../plan-text.ts';
import type { PlanFinding } from '../plan-verdict.ts';
import type { Locate, RiskInput } from './risk-input.ts';

/** Placements that are emptied, held, broken or short of clusters, and deletions that wait. */
export function placementRisks({ plan }: RiskInput, locate: Locate): readonly PlanFinding[] {
  return [
    ...plan.placements.flatMap((placement) => risksOf(placement, locate)),
    ...plan.deletionsHeld.map(
      ({ source, message }): PlanFinding => ({
        code: 'deletions-held',
        severity: 'danger',
        subject: `source ${source}`,
        message,
      }),
    ),
    ...plan.lostFiles.map(
      (lost): PlanFinding => ({
        code: 'file-lost',
        severity: 'danger',
        subject: `file ${lost.file}`,
        message: lostFileText(lost),
      }),
    ),
  ];
}

function risksOf(placement: PlacementPlan, locate: Locate): readonly PlanFinding[] {
  const { namespace, name } = placement;
  const location = locate('Placement', namespace, name);
  const about = {
    subject: `Placement ${namespace}/${name}`,
    ...(location === undefined ? {} : { location }),
  };
  return [...lossOf(placement), ...shortageOf(placement)].map((risk) => ({ ...about, ...risk }));
}

type Risk = Pick<PlanFinding, 'code' | 'severity' | 'message'>;

function lossOf({ change, before, after, held }: PlacementPlan): readonly Risk[] {
  if (held !== undefined) {
    const code = held.reason === 'RemovalBudgetExceeded' ? 'removals-over-budget' : 'held';
    return [{ code, severity: 'danger', message: `Would be held (${held.reason}): ${held.message}` }];
  }
  const had = before?.selected ?? 0;
  if (had === 0 || (after?.selected ?? 0) > 0) return [];
  const message =
    change === 'deleted'
      ? `It is deleted and has ${formatCount(had, 'cluster')}.`
      : `It loses ${had === 1 ? 'its only cluster' : `all of its ${had} clusters`}.`;
  return [{ code: 'placement-emptied', severity: 'danger', message }];
}

function shortageOf({ before, after }: PlacementPlan): readonly Risk[] {
  if (after === undefined) return [];
  if (after.outcome === 'misconfigured')
    return before?.outcome === 'misconfigured'
      ? []
      : [{ code: 'misconfigured', severity: 'warning', message: oneLine(after.message) }];
  const missing = after.unscheduled - (before?.unscheduled ?? 0);
  if (after.outcome !== 'unsatisfied' || missing <= 0) return [];
  const message = `It asks for ${formatCount(after.selected + after.unscheduled, 'cluster')} and has ${after.selected}.`;
  return [{ code: 'unsatisfied', severity: 'warning', message }];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
