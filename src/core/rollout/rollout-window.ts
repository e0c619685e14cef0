import type { ClusterRolloutStatus, RolloutEntry, RolloutGroup, RolloutStatus } from './rollout-plan.ts';

/** Time limits of one pass, and the instant it happens at. All in milliseconds; Infinity: no deadline. */
export interface RolloutTiming {
  readonly nowMs: number;
  readonly deadlineMs: number;
  readonly soakMs: number;
}

/** Collects the results of one pass over the clusters. */
export class RolloutWindow {
  readonly rollout: RolloutEntry[] = [];
  readonly timedOut: RolloutEntry[] = [];
  private readonly timing: RolloutTiming;

  constructor(timing: RolloutTiming) {
    this.timing = timing;
  }

  /**
   * Adds a known cluster to its result list and returns its status, which is TimeOut after the
   * deadline.
   */
  place(known: ClusterRolloutStatus): RolloutStatus {
    const { clusterName, status } = known;
    switch (status) {
      case 'ToApply':
        this.rollout.push({ clusterName, status });
        return status;
      case 'Succeeded':
        return this.placeSoaking(known);
      case 'TimeOut':
      case 'Skip':
        return status;
      case 'Progressing':
      case 'Failed':
        return this.placeWaiting(known);
    }
  }

  addNew(clusterName: string, group: RolloutGroup): void {
    this.rollout.push({ clusterName, status: 'ToApply', group: { index: group.index, name: group.name } });
  }

  /** The earliest future moment at which an entry of the window changes by time alone. */
  recheckAfterMs(): number | undefined {
    const waits = this.rollout
      .map((entry) => (entry.recheckAtMs ?? 0) - this.timing.nowMs)
      .filter((wait) => wait > 0);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** A cluster that succeeded stays in the window until it was successful for long enough. */
  private placeSoaking({ clusterName, status, lastTransitionMs }: ClusterRolloutStatus): RolloutStatus {
    const recheckAtMs = (lastTransitionMs ?? this.timing.nowMs) + this.timing.soakMs;
    if (this.timing.nowMs < recheckAtMs) this.rollout.push({ clusterName, status, recheckAtMs });
    return status;
  }

  private placeWaiting({ clusterName, status, lastTransitionMs }: ClusterRolloutStatus): RolloutStatus {
    if (this.timing.deadlineMs === Number.POSITIVE_INFINITY) {
      this.rollout.push({ clusterName, status });
      return status;
    }
    const recheckAtMs = (lastTransitionMs ?? this.timing.nowMs) + this.timing.deadlineMs;
    if (this.timing.nowMs < recheckAtMs) {
      this.rollout.push({ clusterName, status, recheckAtMs });
      return status;
    }
    this.timedOut.push({ clusterName, status: 'TimeOut', recheckAtMs });
    return 'TimeOut';
  }
}
