import type { ScheduleResult } from '../placement/schedule-result.ts';
import type { DesiredGroup } from './decision-page.ts';

/** The groups of a result as they are written: with scores, by score then name, when the placement asks for `sortBy: Score`. */
export function desiredGroups(result: ScheduleResult): readonly DesiredGroup[] {
  if (result.placement.spec?.sortBy !== 'Score')
    return result.groups.map(({ name, index, clusters }) => ({
      name,
      index,
      decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })),
    }));
  const scores = new Map(result.selected.map((cluster, at) => [cluster, result.selectedScores[at] ?? 0]));
  return result.groups.map(({ name, index, clusters }) => ({
    name,
    index,
    decisions: clusters.map((clusterName) => ({
      clusterName,
      reason: '',
      score: scores.get(clusterName) ?? 0,
    })),
  }));
}
