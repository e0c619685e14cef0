import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Digest } from '../approval/approval-code.ts';
import {
  byPageNumber,
  type DecisionPage,
  type DesiredGroup,
  desiredGroups,
  type GroupKey,
  joinGroups,
  listedClusters,
  type ListedPage,
} from '../pages/decision-page.ts';
import { type FinalPage, type PageAction, type PagePlan, planPages } from '../pages/plan-pages.ts';
import type { DecisionRecord } from './decision-record.ts';

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

interface GroupClusters extends GroupKey {
  readonly clusters: readonly string[];
}

/** The groups on the hub after the recorded publication. */
export function recordedGroups(
  record: Pick<DecisionRecord, 'published' | 'decided'>,
): readonly GroupClusters[] {
  if (record.published !== null) return record.published.map(groupClusters);
  const { groups = [] } = JSON.parse(record.decided) as { readonly groups?: readonly GroupClusters[] };
  return groups;
}

/**
 * The groups after the recorded publication, in the form in which they are written, each group
 * once.
 */
export function recordedDecisions(
  record: Pick<DecisionRecord, 'published' | 'decided'>,
  placement: Placement,
): readonly DesiredGroup[] {
  if (record.published !== null) return joinGroups(record.published);
  const decided = JSON.parse(record.decided) as Partial<ScheduleResult>;
  const { groups = [], selected = [], selectedScores = [] } = decided;
  return desiredGroups({ placement, groups, selected, selectedScores });
}

/** The groups of pages, one for each page. */
export function groupsOfPages(
  pages: readonly Pick<ListedPage, 'group' | 'decisions'>[],
): readonly DesiredGroup[] {
  return pages.map(({ group = { name: '', index: 0 }, decisions }) => ({ ...group, decisions }));
}

export function groupClusters({ name, index, decisions }: DesiredGroup): GroupClusters {
  return { name, index, clusters: decisions.map(({ clusterName }) => clusterName) };
}

/** Whether both have the same clusters in the same groups, on any pages. */
export function sameClusters(a: readonly GroupClusters[], b: readonly GroupClusters[]): boolean {
  return clustersText(a) === clustersText(b);
}

function clustersText(groups: readonly GroupClusters[]): string {
  const lines = groups.flatMap(({ name, index, clusters }) =>
    clusters.map((cluster) => `${index} ${name} ${cluster}`),
  );
  return [...new Set(lines)].sort().join('\n');
}

/** Digest of the pages. It must be fast, because every publication computes it. */
export function pagesDigest(digest: Digest, groups: readonly DesiredGroup[]): string {
  const text = groups.map(({ name, index, decisions }) => {
    let clusters = `${index} ${name}`;
    for (const { clusterName } of decisions) clusters += ` ${clusterName}`;
    return clusters;
  });
  return digest(text.join('\n')).slice(0, 16);
}
