import type { Condition } from '@berth/kube/model/object-meta';
import type { Placement, SpreadConstraint } from '@berth/ocm/kind/placement';

/**
 * The decision of the engine for one placement. Publishing, previews, the plugin endpoint and the
 * CLI share it. The engine computes the full trace (filters by stage, scores by prioritizer) on
 * demand.
 */
export interface ScheduleResult {
  readonly placement: Placement;
  /**
   * `skipped`: the placement is deleted or its scheduling is disabled, and nothing may be written.
   * `unsatisfied`: fewer clusters are selected than requested.
   */
  readonly outcome: 'skipped' | 'scheduled' | 'unsatisfied' | 'misconfigured';
  readonly status: ScheduleStatus;
  /** The selected clusters in rank order. `selectedScores` has their totals at the same index. */
  readonly selected: readonly string[];
  readonly selectedScores: readonly number[];
  /** The number of requested clusters that were not found; 0 if numberOfClusters is not set. */
  readonly unscheduled: number;
  /**
   * The selected clusters divided into decision groups. There is at least one group, which may be
   * empty.
   */
  readonly groups: readonly DecisionGroup[];
  /** PlacementMisconfigured and PlacementSatisfied, without transition times. Empty when skipped. */
  readonly conditions: readonly Condition[];
  /**
   * When a toleration ends and this placement must be scheduled again, in milliseconds since the
   * epoch.
   */
  readonly requeueAtMs: number | undefined;
  /**
   * How evenly the selected clusters are spread, for each spread constraint in listed order.
   * Undefined without constraints.
   */
  readonly spread?: readonly SpreadReached[] | undefined;
}

export interface SpreadReached {
  readonly constraint: SpreadConstraint;
  /** Largest minus smallest count of selected clusters over the topology values present. */
  readonly skew: number;
}

export interface ScheduleStatus {
  readonly code: 'Success' | 'Warning' | 'Error' | 'Misconfigured';
  /** The filter or prioritizer that set the status; '' for the policy and for groups. */
  readonly plugin: string;
  readonly message: string;
}

/**
 * A decision group. `index` counts all groups from 0. Clusters are in the order in which they are
 * written.
 */
export interface DecisionGroup {
  readonly index: number;
  readonly name: string;
  readonly clusters: readonly string[];
}
