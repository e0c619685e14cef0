import { explainLostClusters, type LostClusters } from '../../core/explain/explain-lost-clusters.ts';
import { decisionOwner } from '../../core/placement/prior/decision-owner.ts';
import type { ScheduleResult } from '../../core/placement/result/schedule-result.ts';
import type { SnapshotAge } from '../../core/publish/machine/state/placement-facts.ts';
import type { Snapshot } from '../../core/snapshot/snapshot.ts';
import type { CommitBarrier } from '../sources/progress/commit-barrier.ts';

export interface DecisionSnapshotsOptions {
  readonly barrier: Pick<CommitBarrier, 'isHalf'>;
  /** Increases with every change of an object that snapshots contain, and of the approvals that decisions are judged by. */
  readonly revision: () => number;
  /**
   * Called when a snapshot proves to show the hub at one commit, before its decisions are
   * published.
   */
  readonly onWhole?: (snapshot: Snapshot) => void;
  /** The snapshot that a result was decided in; undefined when that is unknown. */
  readonly snapshotOf: (result: ScheduleResult) => Snapshot | undefined;
}

/** Of a snapshot that was out of date when it was made. */
const NO_REVISION = -1;

/**
 * The input snapshots of results: whether they show the hub at one commit, and which decisions were
 * published in them.
 */
export class DecisionSnapshots {
  readonly #options: DecisionSnapshotsOptions;
  readonly #whole = new WeakSet<Snapshot>();
  readonly #revisionOf = new WeakMap<Snapshot, number>();
  /** For each snapshot in which a transition ended, the one in which it began, as the hub was. */
  readonly #starts = new WeakMap<Snapshot, Snapshot>();

  constructor(options: DecisionSnapshotsOptions) {
    this.#options = options;
  }

  /** A snapshot of now. */
  noteCurrent(snapshot: Snapshot): Snapshot {
    if (this.#options.barrier.isHalf) this.#revisionOf.set(snapshot, this.#options.revision());
    else this.#whole.add(snapshot);
    return snapshot;
  }

  /** A snapshot of now from which nothing may be published: it is to be decided again. */
  noteOvertaken(snapshot: Snapshot): Snapshot {
    this.#revisionOf.set(snapshot, NO_REVISION);
    return snapshot;
  }

  /** Did the snapshot show the hub at one commit when it was made? */
  isWhole(snapshot: Snapshot): boolean {
    return this.#whole.has(snapshot);
  }

  /** A transition that began in one snapshot decided in the other. */
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
    this.#whole.add(snapshot);
    this.#options.onWhole?.(snapshot);
    return 'whole';
  }

  /** Did the pages in the snapshot that the result was decided from list all these clusters as the placement's? */
  listedClusters(key: string, result: ScheduleResult, clusters: readonly string[]): boolean {
    const snapshot = this.#startOf(result);
    if (snapshot === undefined) return true;
    const own = snapshot.decisions.filter((page) => decisionOwner(page) === key);
    const known = new Set(own.flatMap(({ status }) => status?.decisions ?? []).map((d) => d.clusterName));
    return clusters.every((cluster) => known.has(cluster));
  }

  /** Why the result does not have these clusters. */
  lostClusters(result: ScheduleResult, clusters: readonly string[]): readonly LostClusters[] {
    const snapshot = this.#options.snapshotOf(result);
    return snapshot === undefined ? [] : explainLostClusters(snapshot, result.placement, clusters);
  }

  #startOf(result: ScheduleResult): Snapshot | undefined {
    const snapshot = this.#options.snapshotOf(result);
    return snapshot === undefined ? undefined : (this.#starts.get(snapshot) ?? snapshot);
  }
}
