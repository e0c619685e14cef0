import { compareText } from '@berth/runtime/text/compare-text';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  type ClusterDecision,
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  PLACEMENT_LABEL,
} from '@berth/ocm/kind/placement-decision';

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
