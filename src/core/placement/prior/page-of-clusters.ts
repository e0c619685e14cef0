import type { PlacementDecision } from '../../model/kind/placement-decision.ts';

/** What pages were made of: reading it back from them would take longer than deciding. */
const MADE_OF = new WeakMap<PlacementDecision, readonly string[]>();

/** A page that lists these clusters. Its entries are made when somebody reads them. */
export function pageOfClusters(
  page: Omit<PlacementDecision, 'status'>,
  clusters: readonly string[],
): PlacementDecision {
  let status: PlacementDecision['status'];
  const listing: PlacementDecision = Object.defineProperty({ ...page }, 'status', {
    enumerable: true,
    get: () => (status ??= { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) }),
  });
  MADE_OF.set(listing, clusters);
  return listing;
}

/** The clusters on a page; the list that it was made of if it was. */
export function clustersOfPage(page: PlacementDecision): readonly string[] {
  return MADE_OF.get(page) ?? (page.status?.decisions ?? []).map(({ clusterName }) => clusterName);
}
