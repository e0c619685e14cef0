/** Where the names are kept. */
export interface KnownRuleStore {
  get(name: string): KnownRule | undefined;
  set(name: string, rule: KnownRule): void;
  delete(name: string): void;
  keys(): readonly string[];
}

export interface KnownRule {
  readonly seenAtMs: number;
}

/** Each has a status on every pull request. */
const MOST = 100;

/** The guard rules that a repository ever had: a branch may still require the status of one that is gone. */
export class KnownRules {
  readonly #store: KnownRuleStore;
  readonly #now: () => number;

  /** @param now milliseconds */
  constructor(store: KnownRuleStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** The last seen first. */
  names(): readonly string[] {
    return this.#store.keys().toSorted((a, b) => this.#seenAt(b) - this.#seenAt(a) || (a < b ? -1 : 1));
  }

  /** What the rules of a base are called. */
  see(names: readonly string[]): void {
    const seenAtMs = this.#now();
    for (const name of names) this.#store.set(name, { seenAtMs });
    for (const name of this.names().slice(MOST)) this.#store.delete(name);
  }

  #seenAt(name: string): number {
    return this.#store.get(name)?.seenAtMs ?? 0;
  }
}
