import type { PlacementDecision } from '../../model/kind/placement-decision.ts';

/**
 * The cluster lists from which pages were made. Reading the names from the pages takes longer than
 * deciding.
 */
const MADE_OF = new WeakMap<PlacementDecision, readonly string[]>();

/** A page that lists these clusters. The entries are created when they are first read. */
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

/** The clusters on a page. If the page was made from a list, this is the same list. */
export function clustersOfPage(page: PlacementDecision): readonly string[] {
  return MADE_OF.get(page) ?? (page.status?.decisions ?? []).map(({ clusterName }) => clusterName);
}
