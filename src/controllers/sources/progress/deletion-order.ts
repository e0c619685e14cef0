import type { Clock } from '@berth/runtime/clock/clock';

/** How long a source waits for the deletions of others. */
const MAX_WAIT_MS = 30_000;

interface Pass {
  /** The sources whose deletions this source waits for; undefined while it does not wait. */
  waitsFor: ReadonlySet<string> | undefined;
  /** Number of judgements that had ended when the pass began. */
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
  readonly #passes = new Map<string, Pass>();
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

  /** Makes a pass of the source. Its deletions stay open if it must try again. */
  async during<T extends { readonly waits: boolean }>(source: string, pass: () => Promise<T>): Promise<T> {
    this.begins(source);
    let waits = false;
    try {
      const outcome = await pass();
      waits = outcome.waits;
      return outcome;
    } finally {
      if (!waits) this.ends(source);
    }
  }

  /** A pass of the source began. */
  begins(source: string): void {
    this.#passes.set(source, { waitsFor: undefined, seen: this.#ended });
  }

  /** The deletions of the source are done or held, or there are none. */
  ends(source: string): void {
    this.#sinceMs.delete(source);
    if (!this.#passes.delete(source)) return;
    this.#ended += 1;
    this.#notify();
  }

  /**
   * Whether the source must try again later, because these sources may still delete what it would take something from.
   * It must read again what its deletions take away when it does.
   */
  mustWait(source: string, others: ReadonlySet<string>): boolean {
    const pass = this.#passes.get(source);
    if (pass === undefined || others.size === 0) return false;
    const nowMs = this.#clock.now();
    const sinceMs = this.#sinceMs.get(source) ?? nowMs;
    this.#sinceMs.set(source, sinceMs);
    if (Math.abs(nowMs - sinceMs) >= MAX_WAIT_MS) return false;
    pass.waitsFor = others;
    const isOutdated = pass.seen !== this.#ended;
    if (!isOutdated && !this.#isBlocked(source)) {
      pass.waitsFor = undefined;
      return false;
    }
    // It can try again at once if it was only outdated, and so can others that waited for it, if now it waits for them.
    this.#notify();
    return true;
  }

  /** Tells each source that waits for no source with an open judgement. */
  #notify(): void {
    for (const [source, { waitsFor }] of this.#passes)
      if (waitsFor !== undefined && !this.#isBlocked(source)) this.#onFree(source);
  }

  /** Whether the source waits, directly or through others, for one that is being judged. */
  #isBlocked(source: string): boolean {
    const visited = new Set<string>([source]);
    for (const name of visited) {
      const pass = this.#passes.get(name);
      if (pass === undefined) continue;
      if (pass.waitsFor === undefined) return true;
      for (const other of pass.waitsFor) visited.add(other);
    }
    return false;
  }
}
