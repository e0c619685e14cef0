import { namespacedName } from '@berth/kube/model/object-ref';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { DECISION_GROUP_NAME_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { clustersOfPage, decisionOwner, sameNumbers } from '@berth/placement/prior/published-clusters';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { sameClusters } from '@berth/placement/result/cluster-change';
import { byPageNumber, decisionPageOf, publishedClusters } from '../publish/pages/decision-page.ts';
import { joinGroups } from '../publish/pages/desired-groups.ts';
import { groupsOfPages, groupClusters } from '../publish/record/recorded-groups.ts';
import { groupBy } from '@berth/runtime/lists/group-by';

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
    cachedAsPublished(result, pages.get(namespacedName(result.placement.metadata)) ?? []),
  );
}

/** The last published form of each result. Consecutive plans need it for the same results and pages. */
const PUBLISHED_FORMS = new WeakMap<
  ScheduleResult,
  { readonly pages: readonly PlacementDecision[]; readonly published: ScheduleResult }
>();

function cachedAsPublished(result: ScheduleResult, pages: readonly PlacementDecision[]): ScheduleResult {
  const known = PUBLISHED_FORMS.get(result);
  if (known?.pages.length === pages.length && pages.every((page, at) => page === known.pages[at]))
    return known.published;
  const published = isPlainlyPublished(result, pages) ? result : asPublished(result, pages);
  PUBLISHED_FORMS.set(result, { pages, published });
  return published;
}

/** Whether one page without a group lists the clusters. Its entries need not be read. */
function isPlainlyPublished({ selected }: ScheduleResult, pages: readonly PlacementDecision[]): boolean {
  const [page] = pages;
  if (page === undefined || pages.length > 1) return false;
  const hasGroup = page.metadata.labels?.[DECISION_GROUP_NAME_LABEL] !== undefined;
  return !hasGroup && sameNumbers(clustersOfPage(page), selected) === true;
}

function asPublished(result: ScheduleResult, objects: readonly PlacementDecision[]): ScheduleResult {
  const pages = objects
    .map((page) => decisionPageOf(page as unknown as KubeObject, undefined))
    .sort(byPageNumber);
  const selected = publishedClusters(pages);
  const isGrouped = pages.every(({ group }) => group !== undefined);
  if (sameClusters(selected, result.selected) && !isGrouped) return result;
  const groups = joinGroups(groupsOfPages(pages)).map(groupClusters);
  return { ...result, selected, selectedScores: selected.map(() => 0), groups };
}
