import { kind } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ClusterDecision } from '@berth/ocm/kind/placement-decision';
import { type DecisionPage, decisionPageOf, pageLabels } from './decision-page.ts';
import type { FinalPage } from './plan-pages.ts';

/**
 * The decisions of a placement for tools that know clusters by their ClusterProfile: one slice for at most 100 clusters.
 * Source: cluster-inventory-api `apis/v1alpha1/placementdecision_types.go`, KEP-5313.
 */
export const DECISION_SLICE = kind('multicluster.x-k8s.io', 'v1alpha1', 'PlacementDecision', 'Namespaced');
/** The same on all slices of one placement. */
const DECISION_KEY_LABEL = 'multicluster.x-k8s.io/decision-key';
/** The place of a slice among those of its placement, from 0. */
const DECISION_INDEX_LABEL = 'multicluster.x-k8s.io/decision-index';
const SCHEDULER_NAME = 'berth';

export interface SliceContent {
  readonly schedulerName: string;
  readonly decisions: readonly {
    readonly clusterProfileRef: { readonly name: string };
    readonly reason?: string | undefined;
  }[];
}

export function isOurSlice(object: KubeObject): boolean {
  return object['schedulerName'] === SCHEDULER_NAME;
}

/** What a slice lists, as a page. */
export function pageOfSlice(slice: KubeObject): DecisionPage {
  const listed = (slice['decisions'] ?? []) as SliceContent['decisions'];
  const decisions = listed.map(({ clusterProfileRef: { name }, reason = '' }) => ({
    clusterName: name,
    reason,
  }));
  return { ...decisionPageOf(slice, undefined), decisions, owned: true };
}

/** @param index among the slices of the placement, from 0 */
export function sliceLabels(
  placementName: string,
  group: FinalPage['group'],
  index: number,
): Readonly<Record<string, string>> {
  return {
    ...pageLabels(placementName, group),
    [DECISION_KEY_LABEL]: placementName,
    [DECISION_INDEX_LABEL]: String(index),
  };
}

/** Profiles are in the namespace of the placement, under the names of their clusters. */
export function sliceContent(decisions: readonly ClusterDecision[]): SliceContent {
  return {
    schedulerName: SCHEDULER_NAME,
    decisions: decisions.map(({ clusterName, reason }) => ({
      clusterProfileRef: { name: clusterName },
      ...(reason !== '' && { reason }),
    })),
  };
}
