import { type ClusterDecision, MAX_CLUSTERS_PER_DECISION } from '@berth/ocm/kind/placement-decision';
import { type DecisionPage, type DesiredGroup, type GroupKey, sameGroup } from './decision-page.ts';
import { type LaidOutPage, type LayoutHints, layOutPages } from './page-layout.ts';

/** One write to the hub. */
export type PageAction =
  | { readonly kind: 'create'; readonly page: string; readonly group: GroupKey }
  | { readonly kind: 'label'; readonly page: string; readonly group: GroupKey }
  | { readonly kind: 'write'; readonly page: string; readonly decisions: readonly ClusterDecision[] }
  | { readonly kind: 'delete'; readonly page: string };

export interface PagePlan {
  /**
   * The writes, made in this order one after the other. A failed write stops the rest. After any
   * number of them, each cluster that was selected and stays selected is listed. No cluster is
   * removed before every new cluster is listed.
   */
  readonly actions: readonly PageAction[];
  /** The pages after all writes, in page order. */
  readonly pages: readonly FinalPage[];
  /** Only scores and the order by score change. Such a write may wait (`scoreRateLimit`). */
  readonly scoresOnly: boolean;
}

export interface FinalPage {
  readonly name: string;
  readonly group: GroupKey;
  readonly decisions: readonly ClusterDecision[];
}

/**
 * Plans the changes from the pages on the hub to the wanted groups. A cluster must be in at most
 * one wanted group.
 */
export function planPages(
  placementName: string,
  current: readonly DecisionPage[],
  desired: readonly DesiredGroup[],
  hints?: LayoutHints,
): PagePlan {
  const layout = layOutPages(placementName, current, desired, hints);
  const kept = pagesToKeep(layout);
  const pages = finalPages(kept, desired);
  const labels: PageAction[] = [];
  const creates: PageAction[] = [];
  for (const { page, group } of kept) {
    if (page.before === undefined) creates.push({ kind: 'create', page: page.name, group });
    else if (!sameGroup(page.before.group, group) || !page.before.owned)
      labels.push({ kind: 'label', page: page.name, group });
  }
  const finals = pages.filter(
    (page, at) => !sameDecisions(kept[at]?.page.before?.decisions ?? [], page.decisions),
  );
  const deletes = layout
    .filter((page) => page.before !== undefined && !kept.some((entry) => entry.page === page))
    .map((page): PageAction => ({ kind: 'delete', page: page.name }));
  const additions = finals.length + deletes.length > 1 ? additionWrites(kept, desired) : [];
  const covered = new Map(additions.map((action) => [action.page, action.decisions]));
  const removals = finals
    .filter((page) => !sameDecisions(covered.get(page.name) ?? [], page.decisions) || !covered.has(page.name))
    .map((page): PageAction => ({ kind: 'write', page: page.name, decisions: page.decisions }));
  const actions = [...labels, ...creates, ...additions, ...removals, ...deletes];
  const scoresOnly = actions.length === 0 || (current.every(isOwned) && sameClusters(pages, current));
  return { actions, pages, scoresOnly };
}

/** The final content of each page, in the wanted order. */
function finalPages(
  kept: readonly { readonly page: LaidOutPage; readonly group: GroupKey }[],
  desired: readonly DesiredGroup[],
): readonly FinalPage[] {
  const pages = kept.map(({ page, group }) => ({
    name: page.name,
    group,
    decisions: [] as ClusterDecision[],
  }));
  const [only, ...others] = kept;
  // Most placements have one page and need no index of the names.
  if (only !== undefined && others.length === 0) {
    const { clusters } = only.page;
    const wanted = desired.flatMap(({ decisions }) => decisions);
    const decisions = wanted.filter(({ clusterName }) => clusters.has(clusterName));
    return pages.map((page) => ({ ...page, decisions }));
  }
  const pageOf = new Map<string, ClusterDecision[]>();
  pages.forEach(({ decisions }, at) => {
    for (const cluster of kept[at]?.page.clusters ?? []) pageOf.set(cluster, decisions);
  });
  for (const group of desired)
    for (const decision of group.decisions) pageOf.get(decision.clusterName)?.push(decision);
  return pages;
}

/**
 * The pages that groups need: those with clusters, and one empty page for a group without clusters.
 */
function pagesToKeep(
  layout: readonly LaidOutPage[],
): { readonly page: LaidOutPage; readonly group: GroupKey }[] {
  const result: { page: LaidOutPage; group: GroupKey }[] = [];
  for (const page of layout) {
    const { group } = page;
    if (group === undefined) continue;
    const firstOfGroup = layout.find((other) => sameGroup(other.group, group)) === page;
    const groupIsEmpty = layout.every((other) => !sameGroup(other.group, group) || other.clusters.size === 0);
    if (page.clusters.size > 0 || (firstOfGroup && groupIsEmpty)) result.push({ page, group });
  }
  return result;
}

/**
 * The first writes to pages that gain clusters. They keep every cluster that the page lists now, as
 * far as there is room.
 */
function additionWrites(
  kept: readonly { readonly page: LaidOutPage }[],
  desired: readonly DesiredGroup[],
): (PageAction & { readonly kind: 'write' })[] {
  const wanted = desired.flatMap((group) => group.decisions);
  const names = new Set(wanted.map(({ clusterName }) => clusterName));
  return kept
    .filter(({ page }) => page.arrivals.size > 0)
    .map(({ page }) => {
      const needed = wanted.filter(
        ({ clusterName }) => page.clusters.has(clusterName) || page.leaving.has(clusterName),
      );
      const gone = (page.before?.decisions ?? []).filter(({ clusterName }) => !names.has(clusterName));
      return {
        kind: 'write',
        page: page.name,
        decisions: [...needed, ...gone].slice(0, MAX_CLUSTERS_PER_DECISION),
      };
    });
}

function isOwned({ owned }: DecisionPage): boolean {
  return owned;
}

function sameDecisions(a: readonly ClusterDecision[], b: readonly ClusterDecision[]): boolean {
  return (
    a.length === b.length &&
    a.every((decision, at) => {
      const other = b[at];
      return (
        decision.clusterName === other?.clusterName &&
        (decision.reason ?? '') === (other.reason ?? '') &&
        decision.score === other.score
      );
    })
  );
}

/**
 * Whether both have groups of the same lengths, and the same clusters in the groups of each name.
 * Groups with one name are cut only by length, so scores may move clusters between them.
 */
function sameClusters(after: readonly GroupedPage[], before: readonly GroupedPage[]): boolean {
  const [lengths, earlier] = [lengthsOf(after), lengthsOf(before)];
  if (lengths.size !== earlier.size) return false;
  for (const [group, length] of lengths) if (earlier.get(group) !== length) return false;
  const left = new Map<string, number>();
  for (const cluster of groupedClusters(before)) left.set(cluster, (left.get(cluster) ?? 0) + 1);
  for (const cluster of groupedClusters(after)) {
    const count = left.get(cluster) ?? 0;
    if (count === 0) return false;
    left.set(cluster, count - 1);
  }
  // Both sides have the same number of clusters.
  return true;
}

type GroupedPage = Pick<DecisionPage, 'group' | 'decisions'>;

function lengthsOf(pages: readonly GroupedPage[]): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  for (const { group, decisions } of pages) {
    const key = `${group?.index} ${group?.name}`;
    lengths.set(key, (lengths.get(key) ?? 0) + decisions.length);
  }
  return lengths;
}

function* groupedClusters(pages: readonly GroupedPage[]): Generator<string> {
  for (const { group, decisions } of pages)
    for (const { clusterName } of decisions) yield `${group?.name}\n${clusterName}`;
}
