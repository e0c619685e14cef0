import type { KubeObject } from '../../../model/object-meta.ts';
import type { Placement } from '../../../model/kind/placement.ts';
import type { ScheduleResult } from '../../../placement/result/schedule-result.ts';
import type { DecisionRecord } from '../../record/decision-record.ts';
import type { PendingPlan } from '../../approval/pending-plans.ts';
import type { Digest } from '../../approval/plan-token.ts';
import type { PublishState } from '../../judge/publish-state.ts';
import type { RemovalBudget } from '../../judge/removal-budget.ts';

/** The records of the previous process. */
export interface PreviousProcessRecords {
  /** The newest one of the placement. Undefined: there is none, or the pages were compared with it before. */
  readonly newest: DecisionRecord | undefined;
  /** When the oldest record of all was made, in milliseconds since the epoch; `-Infinity` when there is none. */
  readonly oldestAtMs: number;
  /** False: they could not be read. */
  readonly areReadable: boolean;
}

/**
 * `whole`: the snapshot shows the hub at one commit. `half`: between two commits. `overtaken`: between two commits, of
 * which the second is complete now.
 */
export type SnapshotAge = 'whole' | 'half' | 'overtaken';

/**
 * The inputs of a pass besides the placement's state, read again for each pass. Some are functions because their
 * answers are expensive and rarely needed.
 */
export interface PassFacts {
  /** `namespace/name` */
  readonly key: string;
  /** As the watch shows it. */
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
  /** Why it is not known whether works are ready. */
  readonly worksProblem: string | undefined;
  /** Plans that commits were approved with, as far as they are about this placement. */
  readonly plans: readonly PendingPlan[];
  /** A source that another tool applies (`sync: observe`) declares the placement. */
  readonly isOfSource: boolean;
  /** The hub was restored from a backup, so it may be older than the last publication. */
  readonly isHubRestored: boolean;
  readonly digest: Digest;
  /** The PlacementDecision of this name in the namespace, with any owner, as the watch shows it. */
  readonly seenPage: (name: string) => KubeObject | undefined;
  /** Of the snapshot that the result was decided from. */
  readonly snapshotAge: () => SnapshotAge;
  /** Did the snapshot that the result was decided from list all these clusters as the placement's? */
  readonly wasDecidedKnowing: (clusters: readonly string[]) => boolean;
  /** Does the work of the placement run on the cluster (Available or Healthy)? */
  readonly isReady: (cluster: string) => boolean;
  /** Why the result does not have these clusters. */
  readonly lostClusters: (clusters: readonly string[]) => readonly {
    readonly because: string;
    readonly clusters: readonly string[];
  }[];
}
