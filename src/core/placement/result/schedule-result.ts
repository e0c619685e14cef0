import type { Condition } from '../../model/object-meta.ts';
import type { Placement, SpreadConstraint } from '../../model/kind/placement.ts';

/**
 * What the engine decided for one placement: the view that publishing, previews, the plugin endpoint and the CLI share.
 * The full trace (filters per stage, scores per prioritizer) hangs off the engine's own result and is expanded on demand.
 */
export interface ScheduleResult {
  readonly placement: Placement;
  /** `skipped`: deleted or scheduling disabled, nothing may be written. `unsatisfied`: fewer clusters than asked for. */
  readonly outcome: 'skipped' | 'scheduled' | 'unsatisfied' | 'misconfigured';
  readonly status: ScheduleStatus;
  /** Selected clusters in rank order, with their total scores at the same index. */
  readonly selected: readonly string[];
  readonly selectedScores: readonly number[];
  /** Asked for but not found; 0 when numberOfClusters is absent. */
  readonly unscheduled: number;
  /** The selected clusters cut into decision groups; at least one group, perhaps empty. */
  readonly groups: readonly DecisionGroup[];
  /** PlacementMisconfigured and PlacementSatisfied, without transition times. Empty when skipped. */
  readonly conditions: readonly Condition[];
  /** Milliseconds since the epoch at which a toleration runs out and this placement must be scheduled again. */
  readonly requeueAtMs: number | undefined;
  /** How evenly the selected clusters are spread, per spread constraint in listed order. Absent without constraints. */
  readonly spread?: readonly SpreadReached[] | undefined;
}

export interface SpreadReached {
  readonly constraint: SpreadConstraint;
  /** Largest minus smallest count of selected clusters over the topology values present. */
  readonly skew: number;
}

export interface ScheduleStatus {
  readonly code: 'Success' | 'Warning' | 'Error' | 'Misconfigured';
  /** Filter or prioritizer that answered; '' for weights and groups. */
  readonly plugin: string;
  readonly message: string;
}

/** Index counts over all groups from 0. Clusters are in the order in which they are to be written. */
export interface DecisionGroup {
  readonly index: number;
  readonly name: string;
  readonly clusters: readonly string[];
}
