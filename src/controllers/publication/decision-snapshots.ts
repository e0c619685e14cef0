import { explainLostClusters, type LostClusters } from '../../core/explain/explain-lost-clusters.ts';
import { decisionOwner } from '../../core/placement/prior/decision-owner.ts';
import type { ScheduleResult } from '../../core/placement/result/schedule-result.ts';
import type { SnapshotAge } from '../../core/publish/machine/state/placement-facts.ts';
import type { Snapshot } from '../../core/snapshot/snapshot.ts';
import type { CommitBarrier } from '../sources/progress/commit-barrier.ts';

export interface DecisionSnapshotsOptions {
  readonly barrier: Pick<CommitBarrier, 'isHalf' | 'commitsBegun'>;
  /** Increases with every change of an object in snapshots, and of the approvals that decisions are judged by. */
  readonly revision: () => number;
  /**
   * Called when a snapshot proves to show the hub at one commit, before its decisions are
   * published.
   */
  readonly onWhole?: (snapshot: Snapshot) => void;
  /** The snapshot that a result was decided in; undefined if it is unknown. */
  readonly snapshotOf: (result: ScheduleResult) => Snapshot | undefined;
}

/** The revision of a snapshot that was outdated when it was taken. */
const NO_REVISION = -1;

/**
 * The input snapshots of results: whether they show the hub at one commit, and which decisions were
 * published in them.
 */
export class DecisionSnapshots {
  readonly #options: DecisionSnapshotsOptions;
  /** Snapshots that showed the hub at one commit, with the number of commits that had begun by then. */
  readonly #whole = new WeakMap<Snapshot, number>();
  readonly #revisionOf = new WeakMap<Snapshot, number>();
  /** The snapshot at the end of a transition, and the one at its start, which shows the hub. */
  readonly #starts = new WeakMap<Snapshot, Snapshot>();

  constructor(options: DecisionSnapshotsOptions) {
    this.#options = options;
  }

  /** Records a snapshot of the present. */
  noteCurrent(snapshot: Snapshot): Snapshot {
    const { barrier, revision } = this.#options;
    if (barrier.isHalf) this.#revisionOf.set(snapshot, revision());
    else this.#whole.set(snapshot, barrier.commitsBegun);
    return snapshot;
  }

  /** Records a snapshot of the present from which nothing may be published, so that its results are decided again. */
  noteOvertaken(snapshot: Snapshot): Snapshot {
    this.#revisionOf.set(snapshot, NO_REVISION);
    return snapshot;
  }

  /** Whether the snapshot showed the hub at one commit when it was taken. */
  isWhole(snapshot: Snapshot): boolean {
    return this.#whole.has(snapshot);
  }

  /** Records that a transition which started from `start` decided in `snapshot`. */
  decided(snapshot: Snapshot, start: Snapshot): void {
    this.#starts.set(snapshot, start);
  }

  /** Whether the snapshot of the result showed the hub at one commit. */
  ageOf(result: ScheduleResult): SnapshotAge {
    const snapshot = this.#startOf(result);
    if (snapshot === undefined || this.#whole.has(snapshot)) return 'whole';
    const { barrier, revision } = this.#options;
    if (barrier.isHalf) return 'half';
    if (this.#revisionOf.get(snapshot) !== revision()) return 'overtaken';
    // The commit was applied completely, and only the last response was missing.
    this.#whole.set(snapshot, barrier.commitsBegun);
    this.#options.onWhole?.(snapshot);
    return 'whole';
  }

  /**
   * As `ageOf`, but a result of an earlier commit is overtaken. For changes that a commit consents to: its release or
   * approval may arrive before its other objects, and consents to what the whole commit leads to.
   */
  ageInLastCommit(result: ScheduleResult): SnapshotAge {
    const age = this.ageOf(result);
    const snapshot = this.#startOf(result);
    if (age !== 'whole' || snapshot === undefined) return age;
    const { barrier } = this.#options;
    if (barrier.isHalf) return 'half';
    return this.#whole.get(snapshot) === barrier.commitsBegun ? 'whole' : 'overtaken';
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
