import type { AddOnPlacementScore } from '../model/addon-placement-score.ts';
import { parseRfc3339, epochMsOf } from '../model/rfc3339.ts';
import { compileClusterCel } from '../cel/cluster-cel.ts';
import { celProblemText } from '../cel/cel-problem.ts';
import { COST_BUDGET } from '../cel/cel-cost.ts';
import type { World } from '../snapshot/world.ts';
import type { CompileCel } from './cel-hook.ts';
import type { CaseResult } from './case-result.ts';
import { scheduleAllPlainly } from './plain/reference-schedule.ts';
import type { ScheduleResult } from './schedule-result.ts';

export const compileCel: CompileCel = (expression) => {
  const compiled = compileClusterCel(expression);
  if (!compiled.ok) return { ok: false, error: celProblemText(compiled.problem) };
  return {
    ok: true,
    matches: (cluster, scores: readonly AddOnPlacementScore[]) => {
      const outcome = compiled.program.evaluate(cluster, (name) => {
        const found = scores.findLast((score) => score.metadata.name === name);
        return found === undefined ? undefined : (found.status?.scores ?? []);
      });
      return outcome.matched && outcome.cost <= COST_BUDGET;
    },
  };
};

/** Schedules every placement of the world in the listed order; one result each. */
export function scheduleAll(world: World): readonly ScheduleResult[] {
  return scheduleAllPlainly(world, compileCel).map((result, index) =>
    toScheduleResult(result, world.placements[index] as ScheduleResult['placement']),
  );
}

export function toScheduleResult(result: CaseResult, placement: ScheduleResult['placement']): ScheduleResult {
  const pages = new Map(result.placementDecisions.map((page) => [page.name, page.decisions]));
  const requeue = result.requeueAt === null ? undefined : parseRfc3339(result.requeueAt);
  const satisfied = result.conditions.some(
    ({ type, status }) => type === 'PlacementSatisfied' && status === 'True',
  );
  const outcome = !result.scheduled
    ? 'skipped'
    : result.code === 'Misconfigured'
      ? 'misconfigured'
      : satisfied
        ? 'scheduled'
        : 'unsatisfied';
  return {
    placement,
    outcome,
    status: {
      code: result.code === '' ? 'Success' : result.code,
      plugin: result.plugin,
      message: result.message,
    },
    selected: result.selected,
    selectedScores: result.selected.map((name) => result.scores[name] ?? 0),
    unscheduled: result.unscheduled,
    groups: result.decisionGroups.map((group) => ({
      index: group.decisionGroupIndex,
      name: group.decisionGroupName,
      clusters: group.decisions.flatMap((name) => pages.get(name) ?? []),
    })),
    conditions: result.conditions,
    requeueAtMs: requeue === undefined ? undefined : epochMsOf(requeue),
  };
}
