import { explainLostClusters, type LostClusters } from '@berth/placement/explain/explain-lost-clusters';
import { decisionOwner } from '@berth/placement/prior/published-clusters';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { SnapshotConsistency } from '../../core/publish/machine/state/placement-state.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { CommitBarrier } from '../sources/progress/commit-barrier.ts';

export interface DecisionSnapshotsOptions {
  readonly barrier: Pick<CommitBarrier, 'isCommitPartial' | 'commitsBegun'>;
  /** Increases with every change of an object in snapshots, and of the approvals that decisions are judged by. */
  readonly revision: () => number;
  /**
   * Called when a snapshot proves to show the hub at one commit, before its decisions are
   * published.
   */
  readonly onConsistent?: (snapshot: Snapshot) => void;
  /** The snapshot that a result was decided in; undefined if it is unknown. */
  readonly snapshotOf: (result: ScheduleResult) => Snapshot | undefined;
}

/** The revision of a snapshot that was outdated when it was taken. */
const NO_REVISION = -1;

/**
 * The snapshots that results were decided in: whether they show the hub at one commit, and which decisions were
 * published in them.
 */
export class DecisionSnapshots {
  readonly #options: DecisionSnapshotsOptions;
  /** Snapshots that showed the hub at one commit, with the number of commits that had begun by then. */
  readonly #consistent = new WeakMap<Snapshot, number>();
  readonly #revisionOf = new WeakMap<Snapshot, number>();
  /** The snapshot at the end of a transition, and the one at its start, which shows the hub. */
  readonly #starts = new WeakMap<Snapshot, Snapshot>();

  constructor(options: DecisionSnapshotsOptions) {
    this.#options = options;
  }

  /** Records a snapshot of the present. */
  noteCurrent(snapshot: Snapshot): Snapshot {
    const { barrier, revision } = this.#options;
    if (barrier.isCommitPartial) this.#revisionOf.set(snapshot, revision());
    else this.#consistent.set(snapshot, barrier.commitsBegun);
    return snapshot;
  }

  /** Records a snapshot of the present from which nothing may be published, so that its results are decided again. */
  noteOutdated(snapshot: Snapshot): Snapshot {
    this.#revisionOf.set(snapshot, NO_REVISION);
    return snapshot;
  }

  /** Whether the snapshot showed the hub at one commit when it was taken. */
  isConsistent(snapshot: Snapshot): boolean {
    return this.#consistent.has(snapshot);
  }

  /** Records that a transition which started from `start` decided in `snapshot`. */
  decided(snapshot: Snapshot, start: Snapshot): void {
    this.#starts.set(snapshot, start);
  }

  /** Whether the snapshot of the result showed the hub at one commit. */
  consistencyOf(result: ScheduleResult): SnapshotConsistency {
    const snapshot = this.#startOf(result);
    if (snapshot === undefined || this.#consistent.has(snapshot)) return 'consistent';
    const { barrier, revision } = this.#options;
    if (barrier.isCommitPartial) return 'partial';
    if (this.#revisionOf.get(snapshot) !== revision()) return 'outdated';
    // The commit was applied completely, and only the last response was missing.
    this.#consistent.set(snapshot, barrier.commitsBegun);
    this.#options.onConsistent?.(snapshot);
    return 'consistent';
  }

  /**
   * As `consistencyOf`, but a result of an earlier commit is outdated. For changes that a commit consents to: its release or
   * approval may arrive before its other objects, and consents to what the complete commit leads to.
   */
  consistencyInLastCommit(result: ScheduleResult): SnapshotConsistency {
    const consistency = this.consistencyOf(result);
    const snapshot = this.#startOf(result);
    if (consistency !== 'consistent' || snapshot === undefined) return consistency;
    const { barrier } = this.#options;
    if (barrier.isCommitPartial) return 'partial';
    return this.#consistent.get(snapshot) === barrier.commitsBegun ? 'consistent' : 'outdated';
  }

  /** Whether the pages in the snapshot of the result listed all these clusters for the placement. */
  listedClusters(key: string, result: ScheduleResult, clusters: readonly string[]): boolean {
    const snapshot = this.#startOf(result);
    if (snapshot === undefined) return true;
    const own = snapshot.decisions.filter((page) => decisionOwner(page) === key);
    const known = new Set(own.flatMap(({ status }) => status?.decisions ?? []).map((d) => d.clusterName));
    return clusters.every((cluster) => known.has(cluster));
  }

  /** Why the result does not contain these clusters. */
  lostClusters(result: ScheduleResult, clusters: readonly string[]): readonly LostClusters[] {
    const snapshot = this.#options.snapshotOf(result);
    return snapshot === undefined ? [] : explainLostClusters(snapshot, result.placement, clusters);
  }

  #startOf(result: ScheduleResult): Snapshot | undefined {
    const snapshot = this.#options.snapshotOf(result);
    return snapshot === undefined ? undefined : (this.#starts.get(snapshot) ?? snapshot);
  }
}
