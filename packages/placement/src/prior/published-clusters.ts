import { type PlacementDecision, PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { type OwnDecisions, sameDecisions } from './own-decisions.ts';

/** What is published now. */
export interface PublishedClusterLists {
  /**
   * The clusters on the pages of every placement, by `namespace/name`. The list is the same object
   * while the pages are the same.
   */
  readonly clusters: ReadonlyMap<string, readonly string[]>;
  /**
   * The placements whose list changed since the last call. Undefined if any list may have changed.
   */
  readonly changed: ReadonlySet<string> | undefined;
}

/** If more pages changed than this, all pages are read again. */
const FEW = 64;

/** Reads the published clusters from lists of pages. Consecutive lists are mostly the same. */
export class PublishedClusters {
  #pages: readonly PlacementDecision[] | undefined;
  #pagesOf = new Map<string, readonly PlacementDecision[]>();
  readonly #clusters = new Map<string, readonly string[]>();

  /** @param pages in a stable order; an unchanged page is the same object */
  read(pages: readonly PlacementDecision[]): PublishedClusterLists {
    const changed = this.#changedIn(pages);
    this.#pages = pages;
    if (changed === undefined) this.#readAll(pages);
    return { clusters: this.#clusters, changed };
  }

  /**
   * The placements with changed pages. Undefined, with no change made, if pages were added or
   * removed, changed their placement, or if many pages changed.
   */
  #changedIn(pages: readonly PlacementDecision[]): ReadonlySet<string> | undefined {
    const before = this.#pages;
    if (before?.length !== pages.length) return undefined;
    const replaced = new Map<PlacementDecision, PlacementDecision>();
    for (let at = 0; at < pages.length && replaced.size <= FEW; at++) {
      const [was, is] = [before[at] as PlacementDecision, pages[at] as PlacementDecision];
      if (was !== is) replaced.set(was, is);
    }
    if (replaced.size > FEW) return undefined;
    if ([...replaced].some(([was, is]) => decisionOwner(was) !== decisionOwner(is))) return undefined;
    const changed = new Set([...replaced.keys()].map(ownerOf));
    for (const owner of changed) {
      const of = (this.#pagesOf.get(owner) ?? []).map((page) => replaced.get(page) ?? page);
      this.#put(owner, of);
    }
    return changed;
  }

  #readAll(pages: readonly PlacementDecision[]): void {
    const before = this.#pagesOf;
    const pagesOf = new Map<string, PlacementDecision[]>();
    for (const page of pages) {
      const owner = ownerOf(page);
      const known = pagesOf.get(owner);
      if (known === undefined) pagesOf.set(owner, [page]);
      else known.push(page);
    }
    this.#pagesOf = new Map();
    for (const [owner, of] of pagesOf) {
      const known = before.get(owner);
      const isSame = known?.length === of.length && of.every((page, at) => page === known[at]);
      if (isSame) this.#pagesOf.set(owner, known);
      else this.#put(owner, of);
    }
    for (const owner of before.keys()) if (!pagesOf.has(owner)) this.#clusters.delete(owner);
  }

  #put(owner: string, pages: readonly PlacementDecision[]): void {
    this.#pagesOf.set(owner, pages);
    this.#clusters.set(owner, clustersOfPages(pages));
  }
}

/** The placement of a page, or '' for a page of no placement. Such pages count only for Balance. */
function ownerOf(page: PlacementDecision): string {
  return decisionOwner(page) ?? '';
}

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

/** A list of clusters as numbers. */
export interface NumberedClusters {
  /** The numbering of the numbers. Numbers of two indexes cannot be compared. */
  readonly numbering: object;
  readonly decisions: OwnDecisions;
}

/** The numbers of cluster lists. Looking up thousands of names again takes longer than deciding. */
const NUMBERED = new WeakMap<readonly string[], NumberedClusters>();

export function numberClusters(clusters: readonly string[], numbered: NumberedClusters): void {
  NUMBERED.set(clusters, numbered);
}

export function numbersOfClusters(clusters: readonly string[]): NumberedClusters | undefined {
  return NUMBERED.get(clusters);
}

/**
 * Whether two lists have the same clusters, in any order. Undefined if only a comparison of names
 * can tell.
 */
export function sameNumbers(left: readonly string[], right: readonly string[]): boolean | undefined {
  if (left === right) return true;
  if (left.length !== right.length) return false;
  const [a, b] = [NUMBERED.get(left), NUMBERED.get(right)];
  if (a === undefined || a.numbering !== b?.numbering) return undefined;
  return sameDecisions(a.decisions, b.decisions);
}

/**
 * `namespace/placement` of the placement that a decision belongs to. Undefined if it belongs to
 * none. Then it counts only for Balance.
 */
export function decisionOwner({ metadata }: PlacementDecision): string | undefined {
  const labels = metadata.labels;
  if (labels === undefined || !Object.hasOwn(labels, PLACEMENT_LABEL)) return undefined;
  return `${metadata.namespace ?? ''}/${labels[PLACEMENT_LABEL]}`;
}
