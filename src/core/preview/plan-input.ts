import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { DecisionTable } from '@berth/placement/explain/text/decision-table';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { ClusterMove, PlanEnd, PlannedHold } from './plan.ts';

/** One side of a plan: its objects and its decisions. */
export interface PlanSide {
  readonly end: PlanEnd;
  readonly objects: readonly SourceObject[];
  /** The objects on the hub at that time. If absent, `objects`. */
  readonly onHub?: readonly Pick<SourceObject, 'object'>[] | undefined;
  /** The objects in Git, including kinds that Berth does not apply, such as ApplicationSets. If absent, `objects`. */
  readonly declared?: readonly SourceObject[] | undefined;
  readonly snapshot: Snapshot;
  /** One per placement of the snapshot, in its order. */
  readonly results: readonly ScheduleResult[];
  /**
   * The published clusters by `namespace/name`, including those of held placements. If absent, those of the results.
   */
  readonly published?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Works on the hub. If absent, one work of each replica set on each published cluster. */
  readonly works?: readonly Pick<ManifestWork, 'metadata'>[] | undefined;
  /** By identity of the ClusterManagementAddOn: where add-ons are. If absent, on the published clusters of their placements. */
  readonly addOns?: ReadonlyMap<string, PlacedWorkload> | undefined;
}

/** A workload on one side: its clusters and its content. */
export interface PlacedWorkload {
  readonly object: KubeObject;
  readonly placements: readonly string[];
  readonly clusters: readonly string[];
}

/** The functions that the plan needs. Each is the code that also runs after the merge. */
export interface PlanJudges {
  /** Why a cluster is selected (`gained`), or is no longer selected (`lost`). */
  readonly explain: (key: string, cluster: string, move: 'gained' | 'lost') => Omit<ClusterMove, 'cluster'>;
  /** The tables of the decisions that were explained. */
  readonly tables: () => readonly DecisionTable[];
  /** Whether the change would be held. `definitionChanged`: the placement itself was changed. */
  readonly judge: (
    key: string,
    before: readonly string[],
    result: ScheduleResult,
    definitionChanged: boolean,
  ) => PlannedHold | undefined;
  /** The approval code for the change of one placement from these clusters to those. */
  readonly code: (key: string, before: readonly string[], after: readonly string[]) => string;
}
