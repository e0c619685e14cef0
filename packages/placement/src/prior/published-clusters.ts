import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { decisionOwner } from './decision-owner.ts';
import { clustersOfPages } from './page-of-clusters.ts';

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
