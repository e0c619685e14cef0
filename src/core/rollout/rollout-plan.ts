/** How far a cluster is with what is rolled out. TimeOut and Skip are final: such a cluster is not touched again. */
export type RolloutStatus = 'ToApply' | 'Progressing' | 'Succeeded' | 'Failed' | 'TimeOut' | 'Skip';

/** A cluster that already got something. Clusters that never did are not listed. */
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
  /** Only of clusters that nothing was known of. */
  readonly group?: { readonly index: number; readonly name: string } | undefined;
}

export interface RolloutPlan {
  /** Clusters in the window. Those with ToApply may get the new content now. */
  readonly rollout: readonly RolloutEntry[];
  readonly timedOut: readonly RolloutEntry[];
  /** Known clusters that are in no group any more. */
  readonly removed: readonly RolloutEntry[];
  /** More clusters failed than maxFailures allows: nothing new starts. */
  readonly maxFailureBreach: boolean;
  readonly recheckAfterMs: number | undefined;
}

/**
 * `upstream`: decision for decision what OCM's own helper answers, its slips included. `berth`: the same rules with
 * the slips fixed (see docs/rollouts.md): mandatory groups look only at their own clusters, a tolerated failure counts
 * in whichever group it happens, gaps between group indexes hide nothing, a breach stops every ToApply.
 */
export type RolloutRules = 'berth' | 'upstream';
