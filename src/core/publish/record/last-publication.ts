import { type DecisionPage, listedClusters, byPageNumber } from '../pages/decision-page.ts';
import { joinGroups } from '../pages/desired-groups.ts';
import { type PagePlan, planPages, type FinalPage, type PageAction } from '../pages/plan-pages.ts';
import { groupsOfPages } from './recorded-groups.ts';

/** The last publication of Berth, page by page. */
export interface LastPublication {
  readonly pages: readonly FinalPage[];
  /**
   * The clusters that unfinished writes after this publication may have removed. Undefined if no
   * writes were started. Then the hub must show exactly these pages.
   */
  readonly leaving: readonly string[] | undefined;
}

/**
 * The published pages: those on the hub, plus the clusters that others removed. Deleting a page is
 * not a decision. If the last publication is unknown, these are the pages on the hub.
 */
export function publishedPages(
  pages: readonly DecisionPage[],
  last: LastPublication | undefined,
): readonly FinalPage[] {
  if (last !== undefined && last.leaving === undefined) return last.pages;
  const onHub = listClustersOnce(pages).pages;
  const taken = last === undefined ? [] : takenFrom(onHub, last);
  return taken.length === 0 ? onHub : [...onHub, ...taken];
}

/**
 * Whether others changed which clusters the pages list. False if the last publication is unknown.
 * It is fast when nothing changed, because every pass calls it.
 */
export function wereChangedByOthers(
  pages: readonly DecisionPage[],
  last: LastPublication | undefined,
): boolean {
  if (last === undefined) return false;
  if (last.leaving !== undefined) return takenFrom(listClustersOnce(pages).pages, last).length > 0;
  if (pages.length !== last.pages.length) return true;
  return last.pages.some(({ name, decisions }) => {
    const now = pages.find((page) => page.name === name)?.decisions ?? [];
    return (
      now.length !== decisions.length ||
      now.some(({ clusterName }, at) => clusterName !== decisions[at]?.clusterName)
    );
  });
}

/** The plan that restores the published pages when there is no new result. */
export function planToRestore(
  placementName: string,
  pages: readonly DecisionPage[],
  last: LastPublication | undefined,
  isTaken: (name: string) => boolean,
): Pick<PagePlan, 'actions' | 'pages'> {
  if (last === undefined || (last.leaving !== undefined && !wereChangedByOthers(pages, last)))
    return listClustersOnce(pages);
  const published = publishedPages(pages, last);
  return planPages(placementName, pages, joinGroups(groupsOfPages(published)), {
    isTaken,
    before: published,
  });
}

function takenFrom(onHub: readonly FinalPage[], last: LastPublication): readonly FinalPage[] {
  const known = new Set([...listedClusters(onHub), ...(last.leaving ?? [])]);
  return last.pages
    .map((page) => ({
      ...page,
      decisions: page.decisions.filter(({ clusterName }) => !known.has(clusterName)),
    }))
    .filter(({ decisions }) => decisions.length > 0);
}

/**
 * Lists each published cluster once. After an interrupted change a moved cluster may be on two
 * pages, and it would stay there while the next change is held. The first page keeps the cluster.
 */
export function listClustersOnce(pages: readonly DecisionPage[]): {
  readonly actions: readonly PageAction[];
  readonly pages: readonly FinalPage[];
} {
  const seen = new Set<string>();
  const actions: PageAction[] = [];
  const finalPages = [...pages].sort(byPageNumber).map(({ name, group, decisions: before }): FinalPage => {
    const decisions = before.filter(
      ({ clusterName }) => !seen.has(clusterName) && seen.add(clusterName).size > 0,
    );
    if (decisions.length < before.length) actions.push({ kind: 'write', page: name, decisions });
    return { name, group: group ?? { name: '', index: 0 }, decisions };
  });
  return { actions, pages: finalPages };
}
