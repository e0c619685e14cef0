import { FailingKeys } from '@berth/runtime/loop/failing-keys';
import { formatNameList } from '@berth/runtime/text/name-list';
import { STATUS_RIVAL_TEXT } from './status-rivals.ts';

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
