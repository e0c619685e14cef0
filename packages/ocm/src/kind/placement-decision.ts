import type { ObjectMeta } from '@berth/kube/model/object-meta';

/** cluster.open-cluster-management.io/v1beta1: one page of a placement's decisions. */
export interface PlacementDecision {
  readonly apiVersion: string;
  readonly kind: 'PlacementDecision';
  readonly metadata: ObjectMeta;
  readonly status?: { readonly decisions?: readonly ClusterDecision[] | undefined } | undefined;
}

export interface ClusterDecision {
  readonly clusterName: string;
  readonly reason: string;
  /** Only with the placement's sortBy: Score. */
  readonly score?: number | undefined;
}

/** At most this many clusters in one PlacementDecision. */
export const MAX_CLUSTERS_PER_DECISION = 100;

export const PLACEMENT_LABEL = 'cluster.open-cluster-management.io/placement';
export const DECISION_GROUP_NAME_LABEL = 'cluster.open-cluster-management.io/decision-group-name';
export const DECISION_GROUP_INDEX_LABEL = 'cluster.open-cluster-management.io/decision-group-index';

/** `namespace/name` of the placement; undefined without its label. */
export function placementOfDecision({
  metadata,
}: {
  readonly metadata: Pick<ObjectMeta, 'namespace' | 'labels'>;
}): string | undefined {
  const placement = metadata.labels?.[PLACEMENT_LABEL];
  return placement === undefined ? undefined : `${metadata.namespace ?? ''}/${placement}`;
}
