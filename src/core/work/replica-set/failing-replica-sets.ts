import { errorText } from '../../errors.ts';

/** Further ones are only counted. */
const MAX_NAMED = 20;

/** The replica sets whose last pass failed, by `namespace/name`, and why. */
export class FailingReplicaSets {
  readonly #reasons = new Map<string, string>();

  failed(key: string, error: unknown): void {
    this.#reasons.set(key, errorText(error));
  }

  succeeded(key: string): void {
    this.#reasons.delete(key);
  }

  /** One line for each, sorted by name, and one for those that are only counted. */
  warnings(): readonly string[] {
    const failing = [...this.#reasons].sort(([a], [b]) => (a < b ? -1 : 1));
    const lines = failing
      .slice(0, MAX_NAMED)
      .map(([key, reason]) => `ManifestWorkReplicaSet ${key} failed and is tried again: ${reason}`);
    const more = failing.length - lines.length;
    return more > 0 ? [...lines, `${more} more ManifestWorkReplicaSets failed and are tried again`] : lines;
  }
}
