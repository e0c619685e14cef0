import { compareText } from '@berth/runtime/text/compare-text';
/** Where the names are stored. */
export interface KnownRuleStore {
  get(name: string): KnownRule | undefined;
  set(name: string, rule: KnownRule): void;
  delete(name: string): void;
  keys(): readonly string[];
}

export interface KnownRule {
  readonly seenAtMs: number;
}

/** Each known rule gets a status on every pull request. */
const MAX_RULES = 100;

/**
 * The names of all guard rules that a repository ever had. A branch protection may still require the status of a
 * deleted rule.
 */
export class KnownRules {
  readonly #store: KnownRuleStore;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(store: KnownRuleStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Most recently seen first. */
  names(): readonly string[] {
    return this.#store.keys().toSorted((a, b) => this.#seenAt(b) - this.#seenAt(a) || compareText(a, b));
  }

  /** Records the names of the rules in a base. */
  record(names: readonly string[]): void {
    const seenAtMs = this.#now();
    for (const name of names) this.#store.set(name, { seenAtMs });
    for (const name of this.names().slice(MAX_RULES)) this.#store.delete(name);
  }

  #seenAt(name: string): number {
    return this.#store.get(name)?.seenAtMs ?? 0;
  }
}
