import type { KubeObject } from '../../../core/model/object-meta.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import type { ObjectStore } from '../../../adapters/kube/object-store.ts';

const ABSENT = '(absent)';
/** One publication writes a page at most a few times. */
const MADE_KEPT = 16;
/** Whose a write was is asked while its placement is being written: many fewer objects are under way at once. */
const MAX_MADE_OBJECTS = 4_000;

/**
 * Lets a writer read its own writes while the watch lags behind. Each write carried the version before it as precondition, so the
 * versions that are older than the last write are known exactly; anything else in the store is newer and wins.
 */
export class WrittenObjects {
  readonly #store: ObjectStore;
  readonly #entries = new Map<
    string,
    { readonly after: KubeObject | undefined; readonly older: readonly string[] }
  >();

  /** Objects of which the watch has not shown the last write. */
  readonly #behind = new Set<string>();
  readonly #waiting = new Set<() => void>();

  /** Per object, what our last writes made of it; the one that was written last comes last. */
  readonly #made = new Map<string, readonly string[]>();

  constructor(store: ObjectStore) {
    this.#store = store;
    store.onChange(({ key, after }) => this.#caughtUp(key, after));
  }

  get(key: string): KubeObject | undefined {
    const seen = this.#store.get(key);
    const entry = this.#entries.get(key);
    if (entry === undefined) return seen;
    if (entry.older.includes(versionOf(seen))) return entry.after;
    this.#entries.delete(key);
    this.#shown(key);
    return seen;
  }

  /** `before` or `after` undefined: the object was created or deleted. */
  wrote(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const object = after ?? before;
    if (object === undefined) return;
    const key = namespacedName(object.metadata);
    if (versionOf(before) === versionOf(after)) return;
    this.#noteMade(key, outcomeOf(before, after));
    const older = [...(this.#entries.get(key)?.older ?? []), versionOf(before)];
    this.#entries.set(key, { after, older });
    this.#behind.add(key);
    this.#caughtUp(key, this.#store.get(key));
  }

  /** Resolves when the watch has shown all writes. */
  whenShown(): Promise<void> {
    return this.#behind.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.add(resolve));
  }

  #noteMade(key: string, outcome: string): void {
    const made = [...(this.#made.get(key) ?? []).slice(1 - MADE_KEPT), outcome];
    this.#made.delete(key);
    this.#made.set(key, made);
    const [oldest] = this.#made.keys();
    if (oldest !== undefined && this.#made.size > MAX_MADE_OBJECTS) this.#made.delete(oldest);
  }

  /**
   * The watch has shown the last write, or something newer. A version from before it that comes after that is news: the hub was restored
   * from a backup.
   */
  #caughtUp(key: string, seen: KubeObject | undefined): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.older.length === 0 || entry.older.includes(versionOf(seen))) return;
    this.#entries.set(key, { after: entry.after, older: [] });
    this.#shown(key);
  }

  #shown(key: string): void {
    if (!this.#behind.delete(key) || this.#behind.size > 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Is this the outcome of a write of ours (and so no news)? */
  isOwn(key: string, seen: KubeObject | undefined): boolean {
    const entry = this.#entries.get(key);
    return (
      entry !== undefined &&
      (entry.older.includes(versionOf(seen)) || versionOf(entry.after) === versionOf(seen))
    );
  }

  /**
   * Did a write of ours make this of the object, as far as is known by now? The watch may tell of a write before the write itself is
   * answered, so that only later one can say whose it was.
   */
  made(key: string, outcome: string): boolean {
    return this.#made.get(key)?.includes(outcome) === true;
  }

  /** The hub was restored or replaced: a version of before now names a state that is news. */
  forgetAll(): void {
    this.#entries.clear();
    this.#made.clear();
  }

  /** After a failure nothing is known any more. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#shown(key);
  }
}

/** Names what a change made of an object. */
export function outcomeOf(before: KubeObject | undefined, after: KubeObject | undefined): string {
  return after === undefined ? `deleted ${versionOf(before)}` : versionOf(after);
}

function versionOf(object: KubeObject | undefined): string {
  return object?.metadata.resourceVersion ?? ABSENT;
}
