import { apiVersionOf, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { MAX_CLUSTERS_PER_DECISION, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { namespacedName } from '@berth/kube/model/object-ref';
import { selectionReason } from '@berth/placement/explain/text/selection-reason';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import {
  clustersOfPage,
  pageOfClusters,
  decisionOwner,
  sameNumbers,
} from '@berth/placement/prior/published-clusters';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { sameClusters } from '@berth/placement/result/cluster-change';
import { pageLabels } from '../../publish/pages/decision-page.ts';
import { groupBy } from '@berth/runtime/lists/group-by';

/**
 * The PlacementDecisions that a hub will have, with their group labels, as generators read them. A placement whose
 * result is not published keeps its existing PlacementDecisions; one without clusters has an empty one.
 */
export function decisionPages({
  results,
  published,
  existing,
  clusters: fleet,
}: {
  readonly results: readonly ScheduleResult[];
  /** Clusters by `namespace/name`; absent: those of the results. */
  readonly published?: ReadonlyMap<string, readonly string[]> | undefined;
  /** PlacementDecisions on the hub. */
  readonly existing: readonly PlacementDecision[];
  /** For reasons. Absent: pages have none. */
  readonly clusters?: readonly ManagedCluster[] | undefined;
}): readonly PlacementDecision[] {
  const taints = fleet && new Map(fleet.map(({ metadata, spec }) => [metadata.name, spec?.taints ?? []]));
  const kept = groupBy(existing, (page) => decisionOwner(page) ?? '');
  return results.flatMap((result) => {
    const key = namespacedName(result.placement.metadata);
    const clusters = published?.get(key) ?? result.selected;
    const isPublished = result.outcome !== 'skipped' && isSelection(clusters, result);
    if (!isPublished) return kept.get(key) ?? [];
    return taints === undefined ? pagesOf(result) : explainedPages(result, taints);
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

/** With reasons. They depend on taints, so pages with the same clusters may differ. */
function explainedPages(
  result: ScheduleResult,
  taints: ReadonlyMap<string, readonly Taint[]>,
): readonly PlacementDecision[] {
  const reason = selectionReason(result);
  return pagesOf(result).map((page) => {
    const decisions = clustersOfPage(page).map((clusterName) => ({
      clusterName,
      reason: reason(taints.get(clusterName) ?? []),
    }));
    return { ...page, status: { decisions } };
  });
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
