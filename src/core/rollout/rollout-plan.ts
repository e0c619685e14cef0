/**
 * The rollout status of a cluster. TimeOut and Skip are final: such a cluster is not changed again.
 */
export type RolloutStatus = 'ToApply' | 'Progressing' | 'Succeeded' | 'Failed' | 'TimeOut' | 'Skip';

/** The progress of a cluster that already received a template. Other clusters are not listed. */
export interface ClusterRolloutStatus {
  readonly clusterName: string;
  readonly status: RolloutStatus;
  /** Milliseconds since the epoch; absent counts as now. */
  readonly lastTransitionMs?: number | undefined;
}

export interface RolloutGroup {
  readonly index: number;
  readonly name: string;
  readonly clusters: readonly string[];
}

export interface RolloutEntry {
  readonly clusterName: string;
  readonly status: RolloutStatus;
  /** When this entry may change by the passing of time alone. Milliseconds since the epoch. */
  readonly recheckAtMs?: number | undefined;
  /** Only for clusters without a known status. */
  readonly group?: { readonly index: number; readonly name: string } | undefined;
}

export interface RolloutPlan {
  /** Clusters in the batch. Those with ToApply may get the new content now. */
  readonly rollout: readonly RolloutEntry[];
  readonly timedOut: readonly RolloutEntry[];
  /** Known clusters that are no longer in a group. */
  readonly removed: readonly RolloutEntry[];
  /** More clusters failed than maxFailures allows: nothing new starts. */
  readonly maxFailureBreach: boolean;
  readonly recheckAfterMs: number | undefined;
}

/**
 * `upstream`: exactly the results of OCM's helper, including its bugs. `berth`: the same rules
 * without these bugs (see docs/rollouts.md): mandatory groups depend only on their own clusters, a
 * tolerated failure counts in every group, gaps between group indexes are handled, a breach stops
 * every ToApply.
 */
export type RolloutRules = 'berth' | 'upstream';
