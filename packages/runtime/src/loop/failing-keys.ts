import { errorText } from '../errors.ts';

/** Further ones are only counted. */
const MAX_NAMED = 20;

/** What failed the last time that it was tried, and why. Every key is tried again. */
export class FailingKeys {
  readonly #reasons = new Map<string, string>();
  readonly #plural: string;

  /** @param plural names those that are only counted: `passes of the pull model` */
  constructor(plural: string) {
    this.#plural = plural;
  }

  /** @param key names it to users: `ManifestWorkReplicaSet team-a/web` */
  failed(key: string, error: unknown): void {
    this.#reasons.set(key, errorText(error));
  }

  succeeded(key: string): void {
    this.#reasons.delete(key);
  }

  /** One line for each of the first, sorted by key, and one that counts the others. */
  warnings(): readonly string[] {
    const failing = [...this.#reasons].sort(([a], [b]) => (a < b ? -1 : 1));
    const named = failing
      .slice(0, MAX_NAMED)
      .map(([key, reason]) => `${key} failed and is tried again: ${reason}`);
    const more = failing.length - named.length;
    return more > 0 ? [...named, `${more} more ${this.#plural} failed and are tried again`] : named;
  }
}
