import { MAX_CLUSTERS_PER_DECISION } from '@berth/ocm/kind/placement-decision';
import {
  byPageNumber,
  type DecisionPage,
  type DesiredGroup,
  type GroupKey,
  type ListedPage,
  sameGroup,
} from './decision-page.ts';

/** A page in the plan. `before` is undefined for a page that does not exist yet. */
export interface LaidOutPage {
  readonly name: string;
  readonly before: DecisionPage | undefined;
  /** Undefined if no group needs the page any more. */
  readonly group: GroupKey | undefined;
  /** Clusters that the page lists at the end. */
  readonly clusters: ReadonlySet<string>;
  /** Clusters of `clusters` that the page does not list yet. */
  readonly arrivals: ReadonlySet<string>;
  /** Clusters that the page lists now and that another page will list. */
  readonly leaving: ReadonlySet<string>;
}

interface Draft {
  readonly name: string;
  readonly before: DecisionPage | undefined;
  group: GroupKey | undefined;
  readonly clusters: Set<string>;
  /** For a new page this is the same set as `clusters`. */
  readonly arrivals: Set<string>;
}

export interface LayoutHints {
  /** Whether another object has this name. Default: never. */
  readonly isTaken?: ((name: string) => boolean) | undefined;
  /** The pages that were published last. Others may have changed them since. */
  readonly before?: readonly PublishedPage[] | undefined;
}

type PublishedPage = ListedPage & { readonly group: GroupKey };

/**
 * Assigns each cluster to a page. A cluster stays on the page that lists it. A page keeps its
 * labels while at least one of its clusters stays in the labelled group. Otherwise the page gets
 * the group of most of its clusters, so a renumbered group changes only labels and moves no
 * cluster. Clusters without a page fill free places first and new pages after that. Rejected:
 * filling pages from the front each time, as upstream does. That moves clusters between objects
 * whenever an earlier cluster is removed.
 */
export function layOutPages(
  placementName: string,
  current: readonly DecisionPage[],
  desired: readonly DesiredGroup[],
  { isTaken = () => false, before = [] }: LayoutHints = {},
): readonly LaidOutPage[] {
  const groupOf = current.length + before.length === 0 ? NO_GROUPS : groupsByCluster(desired);
  const drafts: Draft[] = [...current].sort(byPageNumber).map((page) => ({
    name: page.name,
    before: page,
    group: undefined,
    clusters: new Set(),
    arrivals: new Set(),
  }));
  const placed = new Set<string>();
  keepInTheirGroup(drafts, groupOf, placed);
  followTheirGroup(drafts, groupOf, placed);
  for (const page of before) if (!isTaken(page.name)) putBack(drafts, page, groupOf, placed);
  if (drafts.length > current.length) drafts.sort(byPageNumber);
  takeSparePages(drafts, desired);
  for (const group of desired) placeArrivals({ placementName, drafts, group, placed, groupOf, isTaken });
  return drafts.map((draft) => ({ ...draft, leaving: leavingOf(draft, groupOf) }));
}

/**
 * Used when no pages exist. Only clusters of existing pages are looked up, so a first publication
 * needs no index of thousands of names.
 */
const NO_GROUPS: ReadonlyMap<string, DesiredGroup> = new Map();

function groupsByCluster(desired: readonly DesiredGroup[]): ReadonlyMap<string, DesiredGroup> {
  const groupOf = new Map<string, DesiredGroup>();
  for (const group of desired) for (const { clusterName } of group.decisions) groupOf.set(clusterName, group);
  return groupOf;
}

/** A cluster that stays in the group of its page keeps its page, and the page keeps its labels. */
function keepInTheirGroup(
  drafts: readonly Draft[],
  groupOf: ReadonlyMap<string, DesiredGroup>,
  placed: Set<string>,
): void {
  for (const draft of drafts) {
    for (const cluster of listed(draft)) {
      const group = groupOf.get(cluster);
      if (group === undefined || placed.has(cluster) || !sameGroup(draft.before?.group, group)) continue;
      draft.group = { name: group.name, index: group.index };
      draft.clusters.add(cluster);
      placed.add(cluster);
    }
  }
}

/**
 * A page whose group lost all of its clusters gets the labels of the group to which most of its
 * clusters belong now.
 */
function followTheirGroup(
  drafts: readonly Draft[],
  groupOf: ReadonlyMap<string, DesiredGroup>,
  placed: Set<string>,
): void {
  for (const draft of drafts) {
    if (draft.group !== undefined) continue;
    const unplaced = listed(draft).filter((cluster) => groupOf.has(cluster) && !placed.has(cluster));
    const target = mostFrequentGroup(unplaced, groupOf);
    if (target === undefined) continue;
    draft.group = { name: target.name, index: target.index };
    for (const cluster of unplaced) {
      if (groupOf.get(cluster) !== target) continue;
      draft.clusters.add(cluster);
      placed.add(cluster);
    }
  }
}

/**
 * Restores clusters that others removed from a page, and pages that others deleted. It does not
 * restore clusters that another page lists now or that belong to another group.
 */
function putBack(
  drafts: Draft[],
  { name, group, decisions }: PublishedPage,
  groupOf: ReadonlyMap<string, DesiredGroup>,
  placed: Set<string>,
): void {
  const missing = decisions
    .map(({ clusterName }) => clusterName)
    .filter((cluster) => !placed.has(cluster) && sameGroup(groupOf.get(cluster), group));
  let page = drafts.find((draft) => draft.name === name);
  // Another writer removed the labels of the page.
  if (page !== undefined && page.before?.group === undefined) page.group ??= group;
  if (missing.length === 0) return;
  if (page === undefined) drafts.push((page = newPage(name, group)));
  page.group ??= group;
  if (!sameGroup(page.group, group)) return;
  for (const cluster of missing.slice(0, Math.max(0, freePlacesOf(page, groupOf)))) {
    page.clusters.add(cluster);
    page.arrivals.add(cluster);
    placed.add(cluster);
  }
}

/** Each group needs a page, which may be empty. A group without clusters keeps its first page. */
function takeSparePages(drafts: readonly Draft[], desired: readonly DesiredGroup[]): void {
  for (const group of desired) {
    if (drafts.some((draft) => sameGroup(draft.group, group))) continue;
    const spare = drafts.find((draft) => draft.group === undefined && sameGroup(draft.before?.group, group));
    if (spare !== undefined) spare.group = { name: group.name, index: group.index };
  }
}

function placeArrivals(input: {
  readonly placementName: string;
  readonly drafts: Draft[];
  readonly group: DesiredGroup;
  readonly placed: ReadonlySet<string>;
  readonly groupOf: ReadonlyMap<string, DesiredGroup>;
  readonly isTaken: (name: string) => boolean;
}): void {
  const { drafts, group, placed } = input;
  const pages = drafts.filter((draft) => sameGroup(draft.group, group));
  const freePlaces = pages.map((page) => freePlacesOf(page, input.groupOf));
  let at = 0;
  const addPage = (): Draft => {
    const page = newPage(freeName(input), group);
    drafts.push(page);
    pages.push(page);
    freePlaces.push(MAX_CLUSTERS_PER_DECISION);
    return page;
  };
  if (pages.length === 0) addPage();
  for (const { clusterName } of group.decisions) {
    if (placed.has(clusterName)) continue;
    while (at < pages.length && (freePlaces[at] ?? 0) <= 0) at += 1;
    const page = pages[at] ?? addPage();
    page.clusters.add(clusterName);
    page.arrivals.add(clusterName);
    freePlaces[at] = (freePlaces[at] ?? 0) - 1;
  }
}

/**
 * Free places of a page. A cluster that moves to another page keeps its place here until the other
 * page lists it.
 */
function freePlacesOf(page: Draft, groupOf: ReadonlyMap<string, DesiredGroup>): number {
  return MAX_CLUSTERS_PER_DECISION - page.clusters.size - leavingOf(page, groupOf).size;
}

function leavingOf(draft: Draft, groupOf: ReadonlyMap<string, DesiredGroup>): ReadonlySet<string> {
  if (draft.before === undefined) return NO_CLUSTERS;
  return new Set(listed(draft).filter((cluster) => groupOf.has(cluster) && !draft.clusters.has(cluster)));
}

const NO_CLUSTERS: ReadonlySet<string> = new Set();

function freeName(input: {
  readonly placementName: string;
  readonly drafts: readonly Draft[];
  readonly isTaken: (name: string) => boolean;
}): string {
  const own = new Set(input.drafts.map((draft) => draft.name));
  let number = 1;
  let name: string;
  do name = `${input.placementName}-decision-${number++}`;
  while (own.has(name) || input.isTaken(name));
  return name;
}

function newPage(name: string, group: GroupKey): Draft {
  const key = { name: group.name, index: group.index };
  const clusters = new Set<string>();
  return { name, before: undefined, group: key, clusters, arrivals: clusters };
}

function mostFrequentGroup(
  clusters: readonly string[],
  groupOf: ReadonlyMap<string, DesiredGroup>,
): DesiredGroup | undefined {
  const counts = new Map<DesiredGroup, number>();
  for (const cluster of clusters) {
    const group = groupOf.get(cluster);
    if (group !== undefined) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  let best: DesiredGroup | undefined;
  for (const [group, count] of counts) {
    const bestCount = best === undefined ? 0 : (counts.get(best) ?? 0);
    if (count > bestCount || (count === bestCount && group.index < (best?.index ?? 0))) best = group;
  }
  return best;
}

function listed(draft: Draft): readonly string[] {
  return (draft.before?.decisions ?? []).map((decision) => decision.clusterName);
}
