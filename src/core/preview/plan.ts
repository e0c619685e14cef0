import type { WaitingPlacement } from './sides/without-merge.ts';
import type { ObjectRef } from '@berth/kube/model/object-ref';
import type { LostFile } from './lost-file.ts';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import type { DecisionTable } from '@berth/placement/explain/text/decision-table';
import type { SpreadReached, ScheduleResult } from '@berth/placement/result/schedule-result';
import type {
  ApplicationSetPlan,
  FieldChange,
  ManifestChange,
  RolloutForecast,
} from './effects/plan-effects.ts';
import type { PlanFinding, PlanDigest, RulesVerdict } from './plan-verdict.ts';

/**
 * The changes between two states of a fleet, as data. Text, Markdown and JSON are views of it. A plan is
 * diff(schedule(base), schedule(head)) with the same previous decisions on both sides, so equal fleets give an empty
 * plan.
 */
export interface Plan {
  readonly base: PlanEnd;
  readonly head: PlanEnd;
  /** RFC 3339: the time at which both sides were scheduled. */
  readonly now: string;
  /** Whether merging would change an object or a decision. */
  readonly hasChanges: boolean;
  readonly summary: PlanSummary;
  /** Placements whose decision or definition changes, by namespace and name. */
  readonly placements: readonly PlacementPlan[];
  /** What is due or held on the hub without the merge. It is no part of the change: nothing judges it. */
  readonly waiting: readonly WaitingChange[];
  /** What the merge moves later, without anybody doing anything, within `HORIZON_HOURS`. */
  readonly later: readonly LaterChange[];
  /** Works, ApplicationSets and add-ons that clusters gain, lose or keep. */
  readonly workloads: readonly WorkloadPlan[];
  readonly objects: readonly ObjectChange[];
  /** Deletions from the hub that would wait for a release. Only for sources that Berth applies. */
  readonly deletionsHeld: readonly HeldDeletions[];
  /** Add-ons that clusters would lose, and keep until a release. Only where Berth installs them. */
  readonly addOnsHeld: readonly HeldAddOn[];
  /** Files that are emptied, or moved out of their source's paths, so that their objects are removed from it. */
  readonly lostFiles: readonly LostFile[];
  /**
   * ApplicationSets whose Applications change, and those that cannot be rendered. Only those that the change can
   * affect.
   */
  readonly applications: readonly ApplicationSetPlan[];
  /** In which order new content reaches the clusters, and the minimum time. */
  readonly rollouts: readonly RolloutForecast[];
  /** The risks of the change, the most dangerous first. */
  readonly findings: readonly PlanFinding[];
  /**
   * The results of the guard rules of the base, and of those of the head if it changes them. Absent if there are no
   * rules.
   */
  readonly rules?: RulesVerdict | undefined;
  /** The digest of the inputs. Absent if not computed. */
  readonly token?: PlanDigest | undefined;
  /** Assumptions that were added to the head, as given: `--drain c1`. May be empty. */
  readonly whatIf: readonly string[];
  /** The clusters that the placements gain, lose or change, by name. */
  readonly clusters: readonly PlanCluster[];
  /** Every cluster before or after the change, by name, for a map. Not printed as JSON or YAML. */
  readonly fleet: readonly FleetCluster[];
  /**
   * How the first changed placements are decided after the change, by namespace and name. Not printed as JSON or YAML:
   * `berth explain` does.
   */
  readonly decisions: readonly DecisionTable[];
  /** What the plan could not evaluate. */
  readonly notEvaluated: readonly string[];
}

export interface FleetCluster {
  readonly name: string;
  /**
   * Names of its cluster sets after the change (before it if the cluster is removed). The set of its label is first.
   */
  readonly sets: readonly string[];
  /** From a label or claim; undefined if it has neither. */
  readonly region: string | undefined;
  /** Absent if the cluster itself does not change. */
  readonly change?: 'added' | 'removed' | undefined;
}

export interface PlanCluster extends FleetCluster {
  readonly labels: Readonly<Record<string, string>>;
}

/** Something that happens, or waits, without the merge. */
export type WaitingChange =
  | WaitingPlacement
  | {
      /** `deletions`: those of a source wait for a release. `deletion`: the hub has not followed yet. */
      readonly kind: 'deletions' | 'deletion';
      /** The source, or the object. */
      readonly subject: string;
    }
  | {
      /** Clusters keep an add-on until a release. */
      readonly kind: 'add-on-held';
      readonly subject: string;
      readonly clusters: readonly string[];
    }
  | {
      /** The manager of add-ons has not followed yet. */
      readonly kind: 'add-on';
      readonly subject: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    };

/** How far a plan looks ahead. */
export const HORIZON_HOURS = 24;

/** A held change that was approved by a comment. */
export interface CommentApproval {
  readonly token: string;
  /** The account at the forge. */
  readonly by: string;
}

/** What happens to a placement at one later instant, and would not without the merge. */
export interface LaterChange {
  readonly namespace: string;
  readonly name: string;
  /** RFC 3339. Absent: the time counts from the merge. */
  readonly at?: string;
  readonly afterMs?: number;
  /** What ends then: a toleration, a score, or the lease of an agent that is late already. */
  readonly by: 'tolerationSeconds' | 'validUntil' | 'lease';
  /** It happens only if the agents of these clusters renew no lease until then. Absent: it depends on no agent. */
  readonly ifSilent?: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Clusters that leave then without the merge, and stay with it. */
  readonly kept: readonly string[];
  /** Why the change would be held; absent if it would not. */
  readonly held?: string;
  /** Add-ons that the placement installs and that move with it. Absent: none do. */
  readonly addOns?: readonly LaterAddOn[];
}

/** What an add-on does when a placement that installs it moves. */
export interface LaterAddOn {
  readonly name: string;
  /** Of the clusters that the placement gains and loses: those on which the add-on was not, and is not any more. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** It would stay on the clusters that it would leave, until a release. Absent: nothing is held. */
  readonly held?: true;
}

export interface HeldDeletions {
  readonly source: string;
  readonly message: string;
  /** The part of the message that says how a person approves it without a pull request. Absent if it says nothing. */
  readonly remedy?: string | undefined;
  readonly token: string;
}

/** An add-on that clusters keep, though no placement of it selects them any more. */
export interface HeldAddOn extends Omit<HeldDeletions, 'source'> {
  readonly addOn: string;
  /** By name. */
  readonly clusters: readonly string[];
  /** It is held only when held changes of placements are approved. The code of all of them approves it, too. */
  readonly ifApproved?: true;
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
  /** The placement's own definition differs. Otherwise something else caused the change. */
  readonly definitionChanged: boolean;
  readonly before: PlacementSide | undefined;
  readonly after: PlacementSide | undefined;
  readonly added: readonly ClusterMove[];
  readonly removed: readonly ClusterMove[];
  readonly kept: number;
  /** One cluster that replaces another. Both are in `removed` and `added` as well. */
  readonly moves: readonly PlacementMove[];
  /** If nobody edited the placement: the changed objects that caused the change, `ManagedCluster cluster1`. */
  readonly affectedBy: readonly string[];
  /** Kept clusters that move to another decision group. */
  readonly regrouped: readonly string[];
  /** Why the new result would not be published at once; absent if it would. */
  readonly held?: PlannedHold | undefined;
  /** The annotation in the head that approves the removals; absent if none does, or if they would be held. */
  readonly approvedBy?: string | undefined;
  /** The approval code that releases exactly this change. */
  readonly token: string;
}

export interface PlacementSide {
  readonly outcome: ScheduleResult['outcome'];
  readonly selected: number;
  /** Names of the clusters, in rank order. */
  readonly clusters: readonly string[];
  readonly groups: readonly PlacementGroup[];
  /** How evenly the clusters are spread, per constraint in listed order. Empty without constraints. */
  readonly spread: readonly SpreadReached[];
  /** Number of clusters that the placement asks for and did not get. */
  readonly unscheduled: number;
  /** What is wrong: the most informative condition, in plain words where some are known; '' when there is no problem. */
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
  /** Why the cluster `from` is removed. */
  readonly because: string;
  readonly causes: readonly string[];
  /** See `ClusterMove`. */
  readonly why?: string | undefined;
  /** Points of `to` minus those of `from`, if both were scored. */
  readonly margin: number | undefined;
}

export interface ClusterMove {
  readonly cluster: string;
  /** `tainted maintenance`, `rank 1 of 3`; '' if unknown. */
  readonly because: string;
  /** `ManagedCluster cluster1`: the changed objects that caused it. */
  readonly causes: readonly string[];
  /** The same as a person would say it, one clause: `c1 is drained`, `numberOfClusters 1 → 2`. Absent if not known. */
  readonly why?: string | undefined;
  /** Its points after the change; absent if it is not scored. */
  readonly points?: number | undefined;
}

export interface PlannedHold {
  readonly reason: string;
  readonly message: string;
  /** The part of the message that says what a person can do without a pull request. Absent if it says nothing. */
  readonly remedy?: string | undefined;
}

export interface WorkloadPlan {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly change: 'created' | 'deleted' | 'changed' | 'moved';
  /** Placements (`namespace/name`) that decide where it runs; empty for a ManifestWork. */
  readonly placements: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: number;
  /** Clusters that keep it and get new content. */
  readonly changedOn: readonly string[];
  /** Number of its manifests after the change, or before it if it is deleted; 0 for an ApplicationSet or an add-on. */
  readonly manifestCount: number;
  /** The differences between the manifests before and after. Empty for a workload that is added or removed. */
  readonly manifests: readonly ManifestChange[];
}

export interface ObjectChange {
  /** `withdrawn`: it leaves Git and stays on the hub, without what Git applied. */
  readonly change: 'created' | 'deleted' | 'changed' | 'withdrawn';
  readonly ref: ObjectRef;
  /** Top-level and second-level fields that differ, `spec.taints`; empty if it is created or deleted. */
  readonly fields: readonly string[];
  /** The values of the fields, before and after. Absent for works, whose manifests are compared, and if many objects change. */
  readonly values?: readonly FieldChange[];
  /** For `withdrawn`: why it stays; goes on after the name of the object. */
  readonly because?: string;
  /** For a ManagedCluster that Git gets: the hub has it already. */
  readonly isOnHub?: true;
  /** For a deletion: it waits for a release, see `deletionsHeld`. */
  readonly held?: true;
  readonly location?: SourceLocation | undefined;
}
