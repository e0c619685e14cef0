import type { ManifestWorkSpec } from './manifest-work.ts';
import type { Condition, ObjectMeta, IntOrString } from '@berth/kube/model/object-meta';

/** work.open-cluster-management.io/v1alpha1: one ManifestWork per cluster that the referenced placements select. */
export interface ManifestWorkReplicaSet {
  readonly apiVersion: string;
  readonly kind: 'ManifestWorkReplicaSet';
  readonly metadata: ObjectMeta;
  readonly spec: ManifestWorkReplicaSetSpec;
  readonly status?: ManifestWorkReplicaSetStatus | undefined;
}

export interface ManifestWorkReplicaSetSpec {
  readonly manifestWorkTemplate: ManifestWorkSpec;
  readonly placementRefs: readonly PlacementReference[];
  /** Absent: Background. */
  readonly cascadeDeletionPolicy?: 'Background' | 'Foreground' | undefined;
}

/** A Placement in the replica set's own namespace. */
export interface PlacementReference {
  readonly name: string;
  readonly rolloutStrategy?: RolloutStrategy | undefined;
}

export interface RolloutStrategy {
  readonly type?: string | undefined;
  readonly all?: RolloutConfig | undefined;
  readonly progressive?: (RolloutConfig & ProgressiveConfig) | undefined;
  readonly progressivePerGroup?: (RolloutConfig & MandatoryGroups) | undefined;
}

export interface RolloutConfig {
  /** Go duration; absent: 0. */
  readonly minSuccessTime?: string | undefined;
  /** Go duration or `None`; absent: None. */
  readonly progressDeadline?: string | undefined;
  readonly maxFailures?: IntOrString | undefined;
}

export interface MandatoryGroups {
  readonly mandatoryDecisionGroups?:
    | readonly { readonly groupName?: string | undefined; readonly groupIndex?: number | undefined }[]
    | undefined;
}

export interface ProgressiveConfig extends MandatoryGroups {
  readonly maxConcurrency?: IntOrString | undefined;
}

export interface ManifestWorkReplicaSetStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly summary?: WorkSummary | undefined;
  readonly placementSummary?: readonly PlacementWorkSummary[] | undefined;
}

export interface WorkSummary {
  readonly total: number;
  readonly progressing: number;
  readonly available: number;
  readonly degraded: number;
  readonly applied: number;
  readonly desiredTotal?: number | undefined;
  readonly updated?: number | undefined;
}

export interface PlacementWorkSummary {
  readonly name: string;
  readonly availableDecisionGroups: string;
  readonly summary: WorkSummary;
}

export const REPLICA_SET_FINALIZER = 'work.open-cluster-management.io/manifest-work-cleanup';
export const REPLICA_SET_LABEL = 'work.open-cluster-management.io/manifestworkreplicaset';
export const WORK_PLACEMENT_LABEL = 'work.open-cluster-management.io/placementname';
