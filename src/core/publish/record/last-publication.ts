import { type DecisionPage, listedClusters } from '../pages/decision-page.ts';
import { joinGroups } from '../pages/desired-groups.ts';
import { listOnce } from '../pages/list-once.ts';
import { type PagePlan, planPages, type SettledPage } from '../pages/plan-pages.ts';
import { groupsOfPages } from './recorded-groups.ts';

/** What Berth published last, page by page. */
export interface LastPublication {
  readonly pages: readonly SettledPage[];
  /**
   * Writes were begun after it, and nobody knows how far they got: the clusters that they may have taken away. Undefined: nothing was
   * begun, so that the hub is to show exactly these pages.
   */
  readonly leaving: readonly string[] | undefined;
}

/**
 * What is published: what the hub lists, and what others took from there. Who deletes a page decides nothing. Where nobody remembers what
 * was published, it is what the hub lists.
 */
export function publishedPages(
  pages: readonly DecisionPage[],
  last: LastPublication | undefined,
): readonly SettledPage[] {
  if (last !== undefined && last.leaving === undefined) return last.pages;
  const standing = listOnce(pages).pages;
  const taken = last === undefined ? [] : takenFrom(standing, last);
  return taken.length === 0 ? standing : [...standing, ...taken];
}

/** Did others change which clusters the pages list? Not where nobody remembers. Cheap where nobody did: it is asked at every look. */
export function wasChanged(pages: readonly DecisionPage[], last: LastPublication | undefined): boolean {
  if (last === undefined) return false;
  if (last.leaving !== undefined) return takenFrom(listOnce(pages).pages, last).length > 0;
  if (pages.length !== last.pages.length) return true;
  return last.pages.some(({ name, decisions }) => {
    const now = pages.find((page) => page.name === name)?.decisions ?? [];
    return (
      now.length !== decisions.length ||
      now.some(({ clusterName }, at) => clusterName !== decisions[at]?.clusterName)
    );
  });
}

/** From the pages on the hub to those that are published, where no new result is. */
export function planToStay(
  placementName: string,
  pages: readonly DecisionPage[],
  last: LastPublication | undefined,
  isTaken: (name: string) => boolean,
): Pick<PagePlan, 'actions' | 'pages'> {
  if (last === undefined || (last.leaving !== undefined && !wasChanged(pages, last))) return listOnce(pages);
  const published = publishedPages(pages, last);
  return planPages(placementName, pages, joinGroups(groupsOfPages(published)), {
    isTaken,
    before: published,
  });
}

function takenFrom(standing: readonly SettledPage[], last: LastPublication): readonly SettledPage[] {
  const known = new Set([...listedClusters(standing), ...(last.leaving ?? [])]);
  return last.pages
    .map((page) => ({
      ...page,
      decisions: page.decisions.filter(({ clusterName }) => !known.has(clusterName)),
    }))
    .filter(({ decisions }) => decisions.length > 0);
}
