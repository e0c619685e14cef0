import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';

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

/** The last list of several pages, by the first of them. */
const JOINED = new WeakMap<
  PlacementDecision,
  { readonly pages: readonly PlacementDecision[]; readonly clusters: readonly string[] }
>();

/** The clusters on the pages of a placement. All readers of the same pages get the same list. */
export function clustersOfPages(pages: readonly PlacementDecision[]): readonly string[] {
  const [first] = pages;
  if (first === undefined) return [];
  if (pages.length === 1 && MADE_OF.has(first)) return clustersOfPage(first);
  const known = JOINED.get(first);
  if (known?.pages.length === pages.length && pages.every((page, at) => page === known.pages[at]))
    return known.clusters;
  const clusters = pages.length === 1 ? clustersOfPage(first) : pages.flatMap(clustersOfPage);
  JOINED.set(first, { pages, clusters });
  return clusters;
}

/** Whether two pages that were made from lists have the same entries. Undefined if only the entries can tell. */
export function sameEntries(a: PlacementDecision, b: PlacementDecision): boolean | undefined {
  const [left, right] = [MADE_OF.get(a), MADE_OF.get(b)];
  if (left === undefined || right === undefined) return undefined;
  return left === right || (left.length === right.length && left.every((name, at) => name === right[at]));
}
