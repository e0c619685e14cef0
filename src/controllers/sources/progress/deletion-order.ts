import type { Clock } from '@berth/runtime/clock/clock';

/** How long a source waits for the deletions of others. */
const MAX_WAIT_MS = 30_000;

interface SourceSync {
  /** The sources whose deletions this source waits for; undefined while it does not wait. */
  waitsFor: ReadonlySet<string> | undefined;
  /** Number of judgements that had ended when the sync began. */
  readonly seen: number;
}

/**
 * The order in which sources judge their deletions. What a deletion takes from an object that another source is about
 * to delete does not count, so the other source goes first. Nothing blocks: a source that must wait tries again later.
 * If sources wait for each other, they judge as if each of them kept its objects.
 */
export class DeletionOrder {
  readonly #clock: Pick<Clock, 'now'>;
  /** Sources whose deletions are not judged yet. */
  readonly #syncs = new Map<string, SourceSync>();
  /** When a source began to wait. */
  readonly #sinceMs = new Map<string, number>();
  #ended = 0;
  #onFree: (source: string) => void = () => undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** @param listener called for each source that waited and may try again */
  onFree(listener: (source: string) => void): void {
    this.#onFree = listener;
  }

  /** Makes a sync of the source. Its deletions stay open if it must try again. */
  async during<T extends { readonly waits: boolean }>(source: string, sync: () => Promise<T>): Promise<T> {
    this.begins(source);
    let waits = false;
    try {
      const outcome = await sync();
      waits = outcome.waits;
      return outcome;
    } finally {
      if (!waits) this.ends(source);
    }
  }

  /** A sync of the source began. */
  begins(source: string): void {
    this.#syncs.set(source, { waitsFor: undefined, seen: this.#ended });
  }

  /** The deletions of the source are done or held, or there are none. */
  ends(source: string): void {
    this.#sinceMs.delete(source);
    if (!this.#syncs.delete(source)) return;
    this.#ended += 1;
    this.#notify();
  }

  /**
   * Whether the source must try again later, because these sources may still delete what it would take something from.
   * It must read again what its deletions take away when it does.
   */
  mustWait(source: string, others: ReadonlySet<string>): boolean {
    const sync = this.#syncs.get(source);
    if (sync === undefined || others.size === 0) return false;
    const nowMs = this.#clock.now();
    const sinceMs = this.#sinceMs.get(source) ?? nowMs;
    this.#sinceMs.set(source, sinceMs);
    if (Math.abs(nowMs - sinceMs) >= MAX_WAIT_MS) return false;
    sync.waitsFor = others;
    const isOutdated = sync.seen !== this.#ended;
    if (!isOutdated && !this.#isBlocked(source)) {
      sync.waitsFor = undefined;
      return false;
    }
    // It can try again at once if it was only outdated, and so can others that waited for it, if now it waits for them.
    this.#notify();
    return true;
  }

  /** Tells each source that waits for no source with an open judgement. */
  #notify(): void {
    for (const [source, { waitsFor }] of this.#syncs)
      if (waitsFor !== undefined && !this.#isBlocked(source)) this.#onFree(source);
  }

  /** Whether the source waits, directly or through others, for one that is being judged. */
  #isBlocked(source: string): boolean {
    const visited = new Set<string>([source]);
    for (const name of visited) {
      const sync = this.#syncs.get(name);
      if (sync === undefined) continue;
      if (sync.waitsFor === undefined) return true;
      for (const other of sync.waitsFor) visited.add(other);
    }
    return false;
  }
}
