import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { DecisionRecord } from '../../record/decision-record.ts';
import type { PendingPlan } from '../../approval/pending-plans.ts';
import type { ReasonOf } from '../../pages/desired-groups.ts';
import type { Digest } from '../../approval/approval-code.ts';
import type { PublishState } from '../../judge/publish-state.ts';
import type { RemovalBudget } from '../../judge/removal-budget.ts';

/** The records of the previous process. */
export interface PreviousProcessRecords {
  /**
   * The newest record of the placement. Undefined if there is none, or if the pages were already
   * compared with it.
   */
  readonly newest: DecisionRecord | undefined;
  /** When the oldest record of all was made, in milliseconds since the epoch; `-Infinity` when there is none. */
  readonly oldestAtMs: number;
  /** False if the records could not be read. */
  readonly areReadable: boolean;
}

/**
 * How the snapshot relates to commits. `consistent`: it shows the hub at one commit. `partial`: it
 * shows the hub between two commits. `outdated`: it shows the hub between two commits, and the
 * second one is completely applied now.
 */
export type SnapshotConsistency = 'consistent' | 'partial' | 'outdated';

/**
 * The inputs of a pass, in addition to the state of the placement. Each pass reads them again. Some
 * are functions, because their results are expensive and rarely needed.
 */
export interface PassFacts {
  /** `namespace/name` */
  readonly key: string;
  /** The placement as the watch shows it. */
  readonly placement: Placement;
  /** The newest result; undefined while the placement was not scheduled. */
  readonly result: ScheduleResult | undefined;
  /** PlacementDecisions with the label of the placement, as the watch shows them. */
  readonly pages: readonly KubeObject[];
  /** The stored state, from the last process or since. */
  readonly remembered: PublishState | undefined;
  readonly records: PreviousProcessRecords;
  readonly budget: RemovalBudget;
  /** Why the inventory cannot be trusted now. */
  readonly inventoryProblem: string | undefined;
  /** Why Berth cannot tell whether works are ready; undefined if it can. */
  readonly worksProblem: string | undefined;
  /** The approved plans of commits that concern this placement. */
  readonly plans: readonly PendingPlan[];
  /** A source that another tool applies (`sync: observe`) declares the placement. */
  readonly isOfSource: boolean;
  /** The newest resource version of each backup from which the hub was restored, oldest first. */
  readonly restoredTo: readonly string[];
  readonly digest: Digest;
  /** The PlacementDecision of this name in the namespace, with any owner, as the watch shows it. */
  readonly seenPage: (name: string) => KubeObject | undefined;
  /**
   * How the snapshot from which the result was decided relates to commits.
   * @param ofLastCommit whether a snapshot from before the last commit counts as outdated
   */
  readonly snapshotConsistency: (ofLastCommit: boolean) => SnapshotConsistency;
  /**
   * Whether the snapshot from which the result was decided listed all of these clusters for the
   * placement.
   */
  readonly wasDecidedKnowing: (clusters: readonly string[]) => boolean;
  /** Whether the work of the placement runs on the cluster (Available or Healthy). */
  readonly isReady: (cluster: string) => boolean;
  /** Why the result selects its clusters. Absent: pages have no reasons. */
  readonly reasonsOf?: ((result: ScheduleResult) => ReasonOf) | undefined;
  /** Why the result does not select these clusters. */
  readonly lostClusters: (clusters: readonly string[]) => readonly {
    readonly because: string;
    readonly clusters: readonly string[];
  }[];
}
