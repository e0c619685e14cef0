import { digestSnapshot, type SnapshotDigest } from '../../adapters/store/snapshot-digest.ts';
import { sha256 } from '@berth/runtime/sha256';
import type { CommitInfo } from '@berth/git-reader/repository/git-repository';
import type { Placement } from '@berth/ocm/kind/placement';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Clock } from '@berth/runtime/clock/clock';
import { sameClusters } from '@berth/placement/result/cluster-change';
import { listedClusters } from '../../core/publish/pages/decision-page.ts';
import { specHash } from '../../core/publish/judge/decide-publication.ts';
import { decidedText, type DecisionRecord, sealRecord } from '../../core/publish/record/decision-record.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { PublishedDecision } from '../../core/publish/pages/published-placements.ts';

export interface RecorderOptions {
  readonly clock: Clock;
  readonly engineVersion: string;
  /** The commit that the hub was last synced to, for the source of the placement. */
  readonly lastCommitOf: (placement: Placement) => CommitInfo | undefined;
  readonly inventoryRevision: () => number;
  /** `text`: the record as JSON. */
  readonly append: (record: DecisionRecord, snapshot: SnapshotDigest, text: string) => void;
}

/** Links each publication to the snapshot that it was computed from. */
export class DecisionRecorder {
  readonly #options: RecorderOptions;
  readonly #snapshotOf = new WeakMap<ScheduleResult, Snapshot>();
  readonly #resultsOf = new WeakMap<Snapshot, Map<string, ScheduleResult>>();
  readonly #sha256 = new WeakMap<Snapshot, SnapshotDigest>();
  /** The snapshot of the last record. A weak reference, because it only saves time. */
  #recorded: WeakRef<Snapshot> | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /**
   * Stores the inputs of a result for as long as the result is in memory. If the engine returns a result again, it also
   * follows from the newest snapshot, so the earlier one can be freed.
   */
  noteInputs(snapshot: Snapshot, result: ScheduleResult): void {
    this.#snapshotOf.set(result, snapshot);
    const results = this.#resultsOf.get(snapshot) ?? new Map<string, ScheduleResult>();
    results.set(namespacedName(result.placement.metadata), result);
    this.#resultsOf.set(snapshot, results);
  }

  /** The inputs of the result; undefined when they are unknown. */
  snapshotOf(result: ScheduleResult): Snapshot | undefined {
    return this.#snapshotOf.get(result);
  }

  /** @returns the hash of the record, '' when the inputs are unknown */
  record(entry: PublishedDecision): string {
    const decided = decidedText(entry.result);
    const inputs = this.#inputsOf(entry, decided);
    if (inputs === undefined) return '';
    const { clock, engineVersion, lastCommitOf, inventoryRevision, append } = this.#options;
    const commit = lastCommitOf(entry.result.placement);
    const { record, text } = sealRecord(sha256, {
      placement: entry.placement,
      spec: specHash(sha256, entry.result.placement),
      publishedAt: new Date(entry.found?.atMs ?? clock.now()).toISOString(),
      engineVersion,
      commit:
        commit === undefined
          ? null
          : {
              id: commit.id,
              author: `${commit.author.name} <${commit.author.email}>`,
              subject: commit.subject,
            },
      inventoryRevision: inventoryRevision(),
      inputs: inputs.hash,
      decided,
      clusters: entry.groups.reduce((sum, group) => sum + group.decisions.length, 0),
      published: isAsDecided(entry) ? null : entry.groups,
      added: entry.added,
      removed: entry.removed,
      released: releaseOf(entry, commit),
      ...(entry.found && { afterRestart: true as const }),
      ...(entry.found?.counts === true && { counts: true as const }),
    });
    append(record, inputs, text);
    return record.hash;
  }

  /**
   * Publications of several passes share one snapshot if possible, because computing the digest and
   * storing a snapshot are expensive, especially with all pages that were written since the
   * previous one.
   */
  #inputsOf({ placement, result }: PublishedDecision, decided: string): SnapshotDigest | undefined {
    const recorded = this.#recorded?.deref();
    const then = recorded && this.#resultsOf.get(recorded)?.get(placement);
    const isSame =
      then !== undefined &&
      (then === result || (isOfSameSpec(then, result) && decidedText(then) === decided));
    const snapshot = isSame ? recorded : this.#snapshotOf.get(result);
    if (snapshot === undefined) return undefined;
    if (snapshot !== recorded) this.#recorded = new WeakRef(snapshot);
    const inputs = this.#sha256.get(snapshot) ?? digestSnapshot(snapshot);
    this.#sha256.set(snapshot, inputs);
    return inputs;
  }
}

function isOfSameSpec(a: ScheduleResult, b: ScheduleResult): boolean {
  const [before, after] = [a.placement.metadata, b.placement.metadata];
  return before.uid === after.uid && before.generation === after.generation;
}

function isAsDecided({ groups, result }: PublishedDecision): boolean {
  return sameClusters(listedClusters(groups), result.selected);
}

/** A manual release names its user. A release in a commit was made by the author of the commit. */
function releaseOf(
  { released }: PublishedDecision,
  commit: CommitInfo | undefined,
): DecisionRecord['released'] {
  if (released === undefined) return null;
  return { token: released.token, by: released.by ?? commit?.author.name ?? 'unknown' };
}
