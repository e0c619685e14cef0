import { namespacedName } from '@berth/kube/model/object-ref';
import { isNewerResourceVersion } from '@berth/kube/model/resource-version';
import type {
  ManifestWorkReplicaSet,
  ManifestWorkReplicaSetStatus,
} from '@berth/ocm/kind/manifest-work-replica-set';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { FailingKeys } from '@berth/runtime/loop/failing-keys';
import { formatNameList } from '@berth/runtime/text/name-list';
import { recentRivalRounds, RIVAL_ROUNDS, untilForgotten } from '../../publish/machine/state/own-writes.ts';

interface Written {
  /** Resource version of the replica set after the write. */
  readonly version: string;
  readonly status: string;
  readonly rivalRoundsAtMs: readonly number[];
}

/**
 * Replica sets of which another controller writes the status, by `namespace/name`. OCM's work controller with the
 * feature gate ManifestWorkReplicaSet is one: without this class, it and Berth overwrote each other 60 times a second. As
 * with decisions, Berth overwrites the other status three times within ten minutes. Then it leaves the replica set to
 * the other controller.
 */
export class StatusRivals {
  readonly #written = new Map<string, Written>();

  /**
   * Records a status that Berth wrote.
   * @param version resource version of the replica set after that
   */
  recordWrite(
    replicaSet: ManifestWorkReplicaSet,
    status: ManifestWorkReplicaSetStatus,
    version: string,
  ): void {
    const key = namespacedName(replicaSet.metadata);
    const { rivalRoundsAtMs = [] } = this.#written.get(key) ?? {};
    this.#written.set(key, { version, status: canonicalJson(status), rivalRoundsAtMs });
  }

  /**
   * Records the state of the replica set before a pass.
   * @param replicaSet as the watch shows it
   * @returns in how many milliseconds Berth may write again; undefined: now
   */
  yieldMs(replicaSet: ManifestWorkReplicaSet, nowMs: number): number | undefined {
    const key = namespacedName(replicaSet.metadata);
    const before = this.#written.get(key);
    if (before === undefined) return undefined;
    const { resourceVersion = '' } = replicaSet.metadata;
    const recent = recentRivalRounds(before, nowMs);
    const isNew = isNewerResourceVersion(resourceVersion, before.version);
    const isForeign = isNew && canonicalJson(replicaSet.status ?? {}) !== before.status;
    const isYielding = recent.length > RIVAL_ROUNDS;
    const rivalRoundsAtMs = isForeign && !isYielding ? [...recent, nowMs] : recent;
    // Each state of the other controller counts once, even if Berth does not overwrite it.
    const seen = isForeign
      ? { version: resourceVersion, status: canonicalJson(replicaSet.status ?? {}) }
      : before;
    this.#written.set(key, { version: seen.version, status: seen.status, rivalRoundsAtMs });
    const newest = rivalRoundsAtMs.at(-1);
    if (newest === undefined || rivalRoundsAtMs.length <= RIVAL_ROUNDS) return undefined;
    return untilForgotten(newest, nowMs);
  }

  forget(key: string): void {
    this.#written.delete(key);
  }
}

/** The message for users. */
export const STATUS_RIVAL_TEXT =
  `another controller writes the status of this replica set, so Berth stopped after ${RIVAL_ROUNDS} rounds and no longer writes its works; ` +
  'it tries again after ten minutes. Run one of the two: Berth with --no-works, or OCM’s work manager without ' +
  '--feature-gates=ManifestWorkReplicaSet=true';

/**
 * The replica sets whose last pass failed, by `namespace/name`, with the reason, and those that are
 * left to another controller.
 */
export class FailingReplicaSets {
  readonly #failing = new FailingKeys('ManifestWorkReplicaSets');
  readonly #yielded = new Set<string>();

  failed(key: string, error: unknown): void {
    this.#failing.failed(`ManifestWorkReplicaSet ${key}`, error);
  }

  succeeded(key: string): void {
    this.#failing.succeeded(`ManifestWorkReplicaSet ${key}`);
  }

  /** Records that the replica set is left to another controller. */
  yielded(key: string): void {
    this.#yielded.add(key);
  }

  resumed(key: string): void {
    this.#yielded.delete(key);
  }

  warnings(): readonly string[] {
    const yielded =
      this.#yielded.size === 0
        ? []
        : [`ManifestWorkReplicaSet ${formatNameList([...this.#yielded].sort())}: ${STATUS_RIVAL_TEXT}`];
    return [...this.#failing.warnings(), ...yielded];
  }
}
