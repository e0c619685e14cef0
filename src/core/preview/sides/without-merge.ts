import { namespacedName } from '@berth/kube/model/object-ref';
import { sameNumbers, clustersOfPage, decisionOwner } from '@berth/placement/prior/published-clusters';
import { sameClusters } from '@berth/placement/result/cluster-change';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { DECISION_GROUP_NAME_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import {
  byPageNumber,
  decisionPageOf,
  joinGroups,
  publishedClusters,
} from '../../publish/pages/decision-page.ts';
import { groupClusters, groupsOfPages } from '../../publish/record/last-publication.ts';
import { groupBy } from '@berth/runtime/lists/group-by';

/**
 * A plan shows what happens with the merge minus what happens without it. Both are computed in the same way: the state
 * of the hub is decided with the base, and from what is published then with the head. A placement whose result and
 * published clusters are the same in both waits for something else, for example for a release of an earlier hold. It
 * counts as published on both sides, so that no view, rule or risk takes it for a change of the merge.
 */
export interface FutureSide {
  /** One per placement. */
  readonly results: readonly ScheduleResult[];
  /** The clusters that are published in the end, by `namespace/name`. */
  readonly published: ReadonlyMap<string, readonly string[]>;
  /** The pages that are published in the end. */
  readonly decisions: Snapshot['decisions'];
}

export interface ComparedFutures {
  /** What is published without the merge. */
  readonly before: readonly ScheduleResult[];
  /** What is decided with the merge, or published where the merge changes nothing. */
  readonly after: readonly ScheduleResult[];
  /** `namespace/name` of the placements that the merge does not change. */
  readonly unaffected: ReadonlySet<string>;
}

export function compareFutures(without: FutureSide, merged: FutureSide): ComparedFutures {
  const old = byKey(without.results);
  const unaffected = new Set<string>();
  const plain = publishedResults(merged.results, merged.decisions);
  const after = merged.results.map((result, at) => {
    // Nothing is written for a skipped placement.
    if (result.outcome === 'skipped') return plain[at] ?? result;
    const key = namespacedName(result.placement.metadata);
    const before = old.get(key);
    // Without the merge nobody decides a skipped placement. It selects nothing, and what it lists stays.
    if (before === undefined || before.outcome === 'skipped') return result;
    if (!isSame(before.selected, result.selected)) return result;
    if (!isSame(without.published.get(key) ?? [], merged.published.get(key) ?? [])) return result;
    unaffected.add(key);
    return plain[at] ?? result;
  });
  return { before: publishedResults(without.results, without.decisions), after, unaffected };
}

/** What is published on the hub now, what will be without the merge, and the hold of a placement there. */
interface WaitingInput {
  readonly without: FutureSide;
  readonly now: ReadonlyMap<string, readonly string[]>;
  readonly unaffected: ReadonlySet<string>;
  readonly holdOf: (
    key: string,
    published: readonly string[],
    result: ScheduleResult,
  ) => { readonly reason: string } | undefined;
}

/** A change of a placement that happens, or waits, without the merge. */
export interface WaitingPlacement {
  /** `hold`: it waits for a release. `change`: the hub has not followed yet. */
  readonly kind: 'hold' | 'change';
  /** `namespace/name` of the placement. */
  readonly subject: string;
  /** How many clusters are published, and how many would be. */
  readonly from: number;
  readonly to: number;
  /** Of a hold. */
  readonly reason?: string;
  /** Of a hold: the merge changes what is held, or ends it. */
  readonly isChanged?: true;
}

/** The changes of placements that are due, or held, without the merge. */
export function waitingChanges({
  without,
  now,
  unaffected,
  holdOf,
}: WaitingInput): readonly WaitingPlacement[] {
  return without.results.flatMap((result): readonly WaitingPlacement[] => {
    const subject = namespacedName(result.placement.metadata);
    if (result.outcome === 'skipped') return [];
    const [published, outcome] = [now.get(subject) ?? [], without.published.get(subject) ?? []];
    if (!isSame(published, outcome))
      return [{ kind: 'change', subject, from: published.length, to: outcome.length }];
    if (isSame(outcome, result.selected)) return [];
    const hold = holdOf(subject, outcome, result);
    if (hold === undefined) return [];
    const { reason } = hold;
    const isChanged = unaffected.has(subject) ? {} : { isChanged: true as const };
    return [
      { kind: 'hold', subject, from: outcome.length, to: result.selected.length, reason, ...isChanged },
    ];
  });
}

function byKey(results: readonly ScheduleResult[]): ReadonlyMap<string, ScheduleResult> {
  return new Map(results.map((result) => [namespacedName(result.placement.metadata), result]));
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (sameNumbers(a, b) ?? sameClusters(a, b));
}

/**
 * Replaces the decided clusters of each result by the published ones. They differ while a change is
 * held, and when the inventory changed after the last publication.
 */
function publishedResults(
  results: readonly ScheduleResult[],
  decisions: readonly PlacementDecision[],
): readonly ScheduleResult[] {
  const pages = groupBy(decisions, (page) => decisionOwner(page) ?? '');
  return results.map((result) =>
    cachedAsPublished(result, pages.get(namespacedName(result.placement.metadata)) ?? []),
  );
}

/** The last published form of each result. Consecutive plans need it for the same results and pages. */
const PUBLISHED_FORMS = new WeakMap<
  ScheduleResult,
  { readonly pages: readonly PlacementDecision[]; readonly published: ScheduleResult }
>();

function cachedAsPublished(result: ScheduleResult, pages: readonly PlacementDecision[]): ScheduleResult {
  const known = PUBLISHED_FORMS.get(result);
  if (known?.pages.length === pages.length && pages.every((page, at) => page === known.pages[at]))
    return known.published;
  const published = isPlainlyPublished(result, pages) ? result : asPublished(result, pages);
  PUBLISHED_FORMS.set(result, { pages, published });
  return published;
}

/** Whether one page without a group lists the clusters. Its entries need not be read. */
function isPlainlyPublished({ selected }: ScheduleResult, pages: readonly PlacementDecision[]): boolean {
  const [page] = pages;
  if (page === undefined || pages.length > 1) return false;
  const hasGroup = page.metadata.labels?.[DECISION_GROUP_NAME_LABEL] !== undefined;
  return !hasGroup && sameNumbers(clustersOfPage(page), selected) === true;
}

function asPublished(result: ScheduleResult, objects: readonly PlacementDecision[]): ScheduleResult {
  const pages = objects
    .map((page) => decisionPageOf(page as unknown as KubeObject, undefined))
    .sort(byPageNumber);
  const selected = publishedClusters(pages);
  const isGrouped = pages.every(({ group }) => group !== undefined);
  if (sameClusters(selected, result.selected) && !isGrouped) return result;
  const groups = joinGroups(groupsOfPages(pages)).map(groupClusters);
  return { ...result, selected, selectedScores: selected.map(() => 0), groups };
}
