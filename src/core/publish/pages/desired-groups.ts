import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { type DesiredGroup, sameGroup } from './decision-page.ts';

/** Why a decision selects a cluster, for `reason` on its page. Without reasons it is empty, as OCM's scheduler leaves it. */
export type ReasonOf = (cluster: string) => string;

/**
 * The groups of a result in the form in which they are written. With `sortBy: Score`, each cluster
 * has its score, and clusters are sorted by score and then by name.
 */
export function desiredGroups(
  result: Pick<ScheduleResult, 'placement' | 'groups' | 'selected' | 'selectedScores'>,
  reasonOf: ReasonOf = () => '',
): readonly DesiredGroup[] {
  if (result.placement.spec?.sortBy !== 'Score')
    return result.groups.map(({ name, index, clusters }) => ({
      name,
      index,
      decisions: clusters.map((clusterName) => ({ clusterName, reason: reasonOf(clusterName) })),
    }));
  const scores = new Map(result.selected.map((cluster, at) => [cluster, result.selectedScores[at] ?? 0]));
  return result.groups.map(({ name, index, clusters }) => ({
    name,
    index,
    decisions: clusters.map((clusterName) => ({
      clusterName,
      reason: reasonOf(clusterName),
      score: scores.get(clusterName) ?? 0,
    })),
  }));
}

/** One entry per group, in the order of first occurrence. */
export function joinGroups(parts: readonly DesiredGroup[]): readonly DesiredGroup[] {
  const groups: DesiredGroup[] = [];
  for (const part of parts) {
    const at = groups.findIndex((group) => sameGroup(group, part));
    const group = groups[at];
    if (group === undefined) groups.push(part);
    else groups[at] = { ...group, decisions: [...group.decisions, ...part.decisions] };
  }
  return groups;
}
