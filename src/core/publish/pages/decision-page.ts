import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  type ClusterDecision,
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  PLACEMENT_LABEL,
} from '@berth/ocm/kind/placement-decision';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { compareText } from '@berth/runtime/text/compare-text';

/**
 * A decision group. Clients select it by two labels of each of its PlacementDecisions: name and
 * index.
 */
export interface GroupKey {
  readonly name: string;
  readonly index: number;
}

export interface ListedPage {
  readonly name: string;
  /** Undefined if the labels name no group, because another writer edited them. */
  readonly group: GroupKey | undefined;
  readonly decisions: readonly ClusterDecision[];
}

/** One PlacementDecision of a placement, as the hub stores it. */
export interface DecisionPage extends ListedPage {
  /** False if the owner reference is missing. Such a page would outlive the placement. */
  readonly owned: boolean;
}

/** Whether the labels name a group. They name none if another writer edited them. */
export function hasGroup(page: DecisionPage): page is DecisionPage & { readonly group: GroupKey } {
  return page.group !== undefined;
}

/** The clusters to publish for one group, in the order in which they are written. */
export interface DesiredGroup extends GroupKey {
  readonly decisions: readonly ClusterDecision[];
}

export function sameGroup(a: GroupKey | undefined, b: GroupKey | undefined): boolean {
  return a?.name === b?.name && a?.index === b?.index;
}

/**
 * `namespace/name` of the placement that a PlacementDecision belongs to; undefined if it belongs to
 * none.
 */
export function placementOfPage({ metadata }: KubeObject): string | undefined {
  const name = metadata.labels?.[PLACEMENT_LABEL];
  return name === undefined ? undefined : `${metadata.namespace ?? ''}/${name}`;
}

/** Reads a PlacementDecision of the placement with this uid. */
export function decisionPageOf(object: KubeObject, placementUid: string | undefined): DecisionPage {
  const labels = object.metadata.labels ?? {};
  const index = labels[DECISION_GROUP_INDEX_LABEL] ?? '';
  const name = labels[DECISION_GROUP_NAME_LABEL];
  const status = object['status'] as { decisions?: readonly ClusterDecision[] } | undefined;
  return {
    name: object.metadata.name,
    group: name !== undefined && /^\d{1,9}$/.test(index) ? { name, index: Number(index) } : undefined,
    decisions: status?.decisions ?? [],
    owned: (object.metadata.ownerReferences ?? []).some((owner) => owner.uid === placementUid),
  };
}

export function pageLabels(placementName: string, group: GroupKey): Readonly<Record<string, string>> {
  return {
    [PLACEMENT_LABEL]: placementName,
    [DECISION_GROUP_NAME_LABEL]: group.name,
    [DECISION_GROUP_INDEX_LABEL]: String(group.index),
  };
}

/** The number in `PLACEMENT-decision-NUMBER`. Pages with other names sort last. */
export function pageNumber(name: string): number {
  const digits = /-decision-(\d{1,9})$/.exec(name)?.[1];
  return digits === undefined ? Infinity : Number(digits);
}

/** The clusters that the pages list, each once, in page order. */
export function publishedClusters(pages: readonly ListedPage[]): readonly string[] {
  return [...new Set(listedClusters([...pages].sort(byPageNumber)))];
}

/** All clusters of the pages or groups, in their order. */
export function listedClusters(
  parts: readonly { readonly decisions: readonly ClusterDecision[] }[],
): readonly string[] {
  const names: string[] = [];
  for (const { decisions } of parts) for (const { clusterName } of decisions) names.push(clusterName);
  return names;
}

export function byPageNumber(a: { readonly name: string }, b: { readonly name: string }): number {
  const difference = pageNumber(a.name) - pageNumber(b.name);
  // Infinity - Infinity is NaN. Then the names decide.
  if (difference !== 0 && !Number.isNaN(difference)) return difference;
  return compareText(a.name, b.name);
}

/** Why a decision selects a cluster, for `reason` on its page. Without reasons it is empty, as OCM's scheduler leaves it. */
export type ReasonOf = (cluster: string) => string;

/**
 * The groups of a result in the form in which they are written. With `sortBy: Score`, each cluster
 * has its score, and clusters are sorted by score and then by name.
 */
export function desiredGroups(
  result: Pick<ScheduleResult, 'placement' | 'groups' | 'selected' | 'selectedScores'>,
  reasonOf: ReasonOf = () => '',
): readonly DesiredGroup[] {
  if (result.placement.spec?.sortBy !== 'Score')
    return result.groups.map(({ name, index, clusters }) => ({
      name,
      index,
      decisions: clusters.map((clusterName) => ({ clusterName, reason: reasonOf(clusterName) })),
    }));
  const scores = new Map(result.selected.map((cluster, at) => [cluster, result.selectedScores[at] ?? 0]));
  return result.groups.map(({ name, index, clusters }) => ({
    name,
    index,
    decisions: clusters.map((clusterName) => ({
      clusterName,
      reason: reasonOf(clusterName),
      score: scores.get(clusterName) ?? 0,
    })),
  }));
}

/** One entry per group, in the order of first occurrence. */
export function joinGroups(parts: readonly DesiredGroup[]): readonly DesiredGroup[] {
  const groups: DesiredGroup[] = [];
  for (const part of parts) {
    const at = groups.findIndex((group) => sameGroup(group, part));
    const group = groups[at];
    if (group === undefined) groups.push(part);
    else groups[at] = { ...group, decisions: [...group.decisions, ...part.decisions] };
  }
  return groups;
}
