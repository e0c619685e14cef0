import { apiVersionOf, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { MAX_CLUSTERS_PER_DECISION, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { namespacedName } from '@berth/kube/model/object-ref';
import { pageOfClusters, decisionOwner, sameNumbers } from '@berth/placement/prior/published-clusters';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { sameClusters } from '@berth/placement/result/cluster-change';
import { pageLabels } from '../../publish/pages/decision-page.ts';
import { groupBy } from '@berth/runtime/lists/group-by';

/**
 * The PlacementDecisions that a hub will have, with their group labels, as generators read them. A placement whose
 * result is not published keeps its existing PlacementDecisions; one without clusters has an empty one.
 * @param published clusters by `namespace/name`; absent: those of the results
 * @param existing PlacementDecisions on the hub
 */
export function decisionPages(
  results: readonly ScheduleResult[],
  published: ReadonlyMap<string, readonly string[]> | undefined,
  existing: readonly PlacementDecision[],
): readonly PlacementDecision[] {
  const kept = groupBy(existing, (page) => decisionOwner(page) ?? '');
  return results.flatMap((result) => {
    const key = namespacedName(result.placement.metadata);
    const clusters = published?.get(key) ?? result.selected;
    const isPublished = result.outcome !== 'skipped' && isSelection(clusters, result);
    return isPublished ? pagesOf(result) : (kept.get(key) ?? []);
  });
}

function isSelection(clusters: readonly string[], { selected }: ScheduleResult): boolean {
  return sameNumbers(clusters, selected) ?? sameClusters(clusters, selected);
}

/** The pages of each result. Both sides of a plan share most results, and so do consecutive plans. */
const PAGES = new WeakMap<ScheduleResult, readonly PlacementDecision[]>();

function pagesOf(result: ScheduleResult): readonly PlacementDecision[] {
  let pages = PAGES.get(result);
  if (pages === undefined) PAGES.set(result, (pages = makePages(result)));
  return pages;
}

function makePages({ placement, groups }: ScheduleResult): readonly PlacementDecision[] {
  const { name, namespace } = placement.metadata;
  const lists = groups.flatMap((group) => {
    const count = Math.max(1, Math.ceil(group.clusters.length / MAX_CLUSTERS_PER_DECISION));
    return Array.from({ length: count }, (_, at) => ({
      group,
      clusters: group.clusters.slice(at * MAX_CLUSTERS_PER_DECISION, (at + 1) * MAX_CLUSTERS_PER_DECISION),
    }));
  });
  return lists.map(({ group, clusters }, at) =>
    pageOfClusters(
      {
        apiVersion: apiVersionOf(PLACEMENT_DECISION),
        kind: 'PlacementDecision',
        metadata: { name: `${name}-decision-${at + 1}`, namespace, labels: pageLabels(name, group) },
      },
      clusters,
    ),
  );
}
