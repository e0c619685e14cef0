import { errorText } from '../../errors.ts';
import { formatNameList } from '../../publish/judge/judge-result.ts';
import { STATUS_RIVAL_TEXT } from './status-rivals.ts';

/** Further ones are only counted. */
const MAX_NAMED = 20;

/** The replica sets whose last pass failed, by `namespace/name`, and why; and those that are left to another controller. */
export class FailingReplicaSets {
  readonly #reasons = new Map<string, string>();
  readonly #yielded = new Set<string>();

  failed(key: string, error: unknown): void {
    this.#reasons.set(key, errorText(error));
  }

  succeeded(key: string): void {
    this.#reasons.delete(key);
  }

  /** It is left to another controller. */
  yielded(key: string): void {
    this.#yielded.add(key);
  }

  resumed(key: string): void {
    this.#yielded.delete(key);
  }

  /** One line for each, sorted by name, and one for those that are only counted. */
  warnings(): readonly string[] {
    const failing = [...this.#reasons].sort(([a], [b]) => (a < b ? -1 : 1));
    const lines = failing
      .slice(0, MAX_NAMED)
      .map(([key, reason]) => `ManifestWorkReplicaSet ${key} failed and is tried again: ${reason}`);
    if (this.#yielded.size > 0)
      lines.push(`ManifestWorkReplicaSet ${formatNameList([...this.#yielded].sort())}: ${STATUS_RIVAL_TEXT}`);
    const more = failing.length - Math.min(failing.length, MAX_NAMED);
    return more > 0 ? [...lines, `${more} more ManifestWorkReplicaSets failed and are tried again`] : lines;
  }
}
