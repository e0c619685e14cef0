import { namespacedName } from '../model/object-ref.ts';
import type { KubeObject } from '../model/object-meta.ts';
import type { PlacementDecision } from '../model/kind/placement-decision.ts';
import { decisionOwner } from '../placement/prior/decision-owner.ts';
import type { ScheduleResult } from '../placement/result/schedule-result.ts';
import { sameClusters } from '../publish/judge/cluster-change.ts';
import { byPageNumber, decisionPageOf, publishedClusters } from '../publish/pages/decision-page.ts';
import { joinGroups } from '../publish/pages/desired-groups.ts';
import { groupsOfPages, membersOf } from '../publish/record/recorded-groups.ts';
import { groupBy } from '../group-by.ts';

/**
 * Replaces the decided clusters of each result by the published ones. They differ while a change is
 * held, and when the inventory changed after the last publication.
 */
export function publishedResults(
  results: readonly ScheduleResult[],
  decisions: readonly PlacementDecision[],
): readonly ScheduleResult[] {
  const pages = groupBy(decisions, (page) => decisionOwner(page) ?? '');
  return results.map((result) =>
    asPublished(result, pages.get(namespacedName(result.placement.metadata)) ?? []),
  );
}

function asPublished(result: ScheduleResult, objects: readonly PlacementDecision[]): ScheduleResult {
  const pages = objects
    .map((page) => decisionPageOf(page as unknown as KubeObject, undefined))
    .sort(byPageNumber);
  const selected = publishedClusters(pages);
  const isGrouped = pages.every(({ group }) => group !== undefined);
  if (sameClusters(selected, result.selected) && !isGrouped) return result;
  const groups = joinGroups(groupsOfPages(pages)).map(membersOf);
  return { ...result, selected, selectedScores: selected.map(() => 0), groups };
}
