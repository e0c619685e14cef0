import type { ObjectRef } from '../model/object-ref.ts';
import type { LostFile } from './lost-file.ts';
import type { SourceLocation } from '../model/source-location.ts';
import type { ScheduleResult } from '../placement/result/schedule-result.ts';

/**
 * What would change between two states of a fleet: data first; text, Markdown and JSON are views of it. A plan is
 * diff(schedule(base), schedule(head)) with the same previous decisions on both sides, so equal fleets give an empty
 * plan.
 */
export interface Plan {
  readonly base: PlanEnd;
  readonly head: PlanEnd;
  /** RFC 3339: the present that both sides were scheduled at. */
  readonly now: string;
  /** Whether merging would change an object or a decision. */
  readonly hasChanges: boolean;
  readonly summary: PlanSummary;
  /** Placements whose decision or definition changes, by namespace and name. */
  readonly placements: readonly PlacementPlan[];
  /** Works and ApplicationSets that come to, leave or stay on clusters. */
  readonly workloads: readonly WorkloadPlan[];
  readonly objects: readonly ObjectChange[];
  /** Deletions from the hub that would wait for a release; only of sources that Berth applies. */
  readonly deletionsHeld: readonly HeldDeletions[];
  /** Files that are emptied, or moved where their source does not look: their objects leave it. */
  readonly lostFiles: readonly LostFile[];
  /** What the plan could not take into account. */
  readonly notEvaluated: readonly string[];
}

export interface HeldDeletions {
  readonly source: string;
  readonly message: string;
  readonly token: string;
}

export interface PlanEnd {
  /** As the user named it: `main`, `HEAD~1`. */
  readonly name: string;
  readonly commit?: string | undefined;
}

export interface PlanSummary {
  readonly placements: number;
  readonly placementsChanged: number;
  readonly clusters: number;
  readonly added: number;
  readonly removed: number;
  readonly held: number;
}

export interface PlacementPlan {
  readonly namespace: string;
  readonly name: string;
  readonly change: 'created' | 'deleted' | 'changed';
  /** The placement's own definition differs; otherwise something around it moved. */
  readonly definitionChanged: boolean;
  readonly before: PlacementSide | undefined;
  readonly after: PlacementSide | undefined;
  readonly added: readonly ClusterMove[];
  readonly removed: readonly ClusterMove[];
  readonly kept: number;
  /** Kept clusters that come to another decision group. */
  readonly regrouped: readonly string[];
  /** Why the new result would not be published at once; absent when it would. */
  readonly held?: PlannedHold | undefined;
  /** Names exactly this change, for releasing it. */
  readonly token: string;
}

export interface PlacementSide {
  readonly outcome: ScheduleResult['outcome'];
  readonly selected: number;
  /** Asked for but not found. */
  readonly unscheduled: number;
  /** Wire text of the most informative condition; '' when there is no problem. */
  readonly message: string;
}

export interface ClusterMove {
  readonly cluster: string;
  /** `tainted maintenance`, `rank 1 of 3`; '' when nothing is known. */
  readonly because: string;
  /** `ManagedCluster cluster1`: the changed objects behind it. */
  readonly causes: readonly string[];
}

export interface PlannedHold {
  readonly reason: string;
  readonly message: string;
}

export interface WorkloadPlan {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly change: 'created' | 'deleted' | 'changed' | 'moved';
  /** Placements that decide where it runs, `namespace/name`; none for a ManifestWork. */
  readonly placements: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: number;
}

export interface ObjectChange {
  readonly change: 'created' | 'deleted' | 'changed';
  readonly ref: ObjectRef;
  /** Top-level and second-level fields that differ, `spec.taints`; empty unless changed. */
  readonly fields: readonly string[];
  /** Of a deletion: it waits for a release, see `deletionsHeld`. */
  readonly held?: true;
  readonly location?: SourceLocation | undefined;
}
