import type { ObjectRef } from '../model/object-ref.ts';
import type { LostFile } from './lost-file.ts';
import type { SourceLocation } from '../model/source-location.ts';
import type { SpreadReached, ScheduleResult } from '../placement/result/schedule-result.ts';
import type { ApplicationSetPlan, ManifestChange, RolloutForecast } from './effects/plan-effects.ts';
import type { PlanFinding, PlanToken, RulesVerdict } from './plan-verdict.ts';

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
  /** Works, ApplicationSets and add-ons that come to, leave or stay on clusters. */
  readonly workloads: readonly WorkloadPlan[];
  readonly objects: readonly ObjectChange[];
  /** Deletions from the hub that would wait for a release; only of sources that Berth applies. */
  readonly deletionsHeld: readonly HeldDeletions[];
  /** Files that are emptied, or moved where their source does not look: their objects leave it. */
  readonly lostFiles: readonly LostFile[];
  /** ApplicationSets whose Applications change, and those that cannot be rendered; only those that the change may reach. */
  readonly applications: readonly ApplicationSetPlan[];
  /** In which order new content reaches the clusters, and how long that takes at least. */
  readonly rollouts: readonly RolloutForecast[];
  /** What is dangerous about the change, the most dangerous first. */
  readonly findings: readonly PlanFinding[];
  /** What the guard rules of the base say, and those of the head if it changes them. Absent: there are no rules. */
  readonly rules?: RulesVerdict | undefined;
  /** Names what the plan was made of. Absent: not computed. */
  readonly token?: PlanToken | undefined;
  /** Assumptions that are laid over the head, as given: `--drain c1`. Empty: none. */
  readonly whatIf: readonly string[];
  /** The clusters that the placements gain, lose or change, by name. */
  readonly clusters: readonly PlanCluster[];
  /** Every cluster before or after, by name; for a map. Not printed as JSON or YAML. */
  readonly fleet: readonly FleetCluster[];
  /** What the plan could not take into account. */
  readonly notEvaluated: readonly string[];
}

export interface FleetCluster {
  readonly name: string;
  /** Names of the cluster sets that it is a member of, after the change (before it if it leaves): that of its label first. */
  readonly sets: readonly string[];
  /** Label or claim; undefined: neither. */
  readonly region: string | undefined;
  /** Absent: the cluster itself stays. */
  readonly change?: 'added' | 'removed' | undefined;
}

export interface PlanCluster extends FleetCluster {
  readonly labels: Readonly<Record<string, string>>;
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
  /** One cluster that is exchanged for another; each is in `removed` and `added` too. */
  readonly moves: readonly PlacementMove[];
  /** Of a placement that nobody edited: the changed objects behind it, `ManagedCluster cluster1`. */
  readonly affectedBy: readonly string[];
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
  /** Their names, in rank order. */
  readonly clusters: readonly string[];
  readonly groups: readonly PlacementGroup[];
  /** How evenly the clusters are spread, per constraint in listed order. Empty without constraints. */
  readonly spread: readonly SpreadReached[];
  /** Asked for but not found. */
  readonly unscheduled: number;
  /** Wire text of the most informative condition; '' when there is no problem. */
  readonly message: string;
}

export interface PlacementGroup {
  readonly index: number;
  readonly name: string;
  readonly clusters: number;
}

export interface PlacementMove {
  readonly from: string;
  readonly to: string;
  /** Why `from` is left. */
  readonly because: string;
  readonly causes: readonly string[];
  /** Points of `to` minus those of `from`, where both were scored. */
  readonly margin: number | undefined;
}

export interface ClusterMove {
  readonly cluster: string;
  /** `tainted maintenance`, `rank 1 of 3`; '' when nothing is known. */
  readonly because: string;
  /** `ManagedCluster cluster1`: the changed objects behind it. */
  readonly causes: readonly string[];
  /** Its points after the change; absent where it is not scored. */
  readonly points?: number | undefined;
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
  /** Clusters that keep it and get other content. */
  readonly changedOn: readonly string[];
  /** Manifests in it after the change, before it where it is deleted; 0 for an ApplicationSet or an add-on. */
  readonly manifestCount: number;
  /** What differs between the manifests before and after; of a workload that comes or goes none are listed. */
  readonly manifests: readonly ManifestChange[];
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
