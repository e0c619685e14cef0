import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';

/** cluster.open-cluster-management.io/v1alpha1; lives in the namespace of its cluster. */
export interface AddOnPlacementScore {
  readonly apiVersion: string;
  readonly kind: 'AddOnPlacementScore';
  readonly metadata: ObjectMeta;
  readonly status?: AddOnPlacementScoreStatus | undefined;
}

export interface AddOnPlacementScoreStatus {
  readonly conditions?: readonly Condition[] | undefined;
  /** Each value in −100..100. */
  readonly scores?: readonly { readonly name: string; readonly value: number }[] | undefined;
  /** RFC 3339; after it the scores count as 0. */
  readonly validUntil?: string | null | undefined;
}
