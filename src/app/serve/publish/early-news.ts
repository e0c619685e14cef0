/** What the watch told of an object while its placement was being written. `isOurs` is asked when the writes are answered. */
export interface EarlyChange {
  readonly isOurs: () => boolean;
  /** Called when somebody else made the change. */
  readonly tell: () => void;
}

/** One pass writes a few hundred pages at most; whoever tells more than this is not us. */
const MAX_KEPT = 1_000;

/**
 * The watch tells of a write before the write itself is answered. Whose it was is known only then; until then the news waits, so
 * that a placement is not judged again for each write of its own.
 */
export class EarlyNews {
  readonly #waiting = new Map<string, EarlyChange[]>();

  /** Keeps what is told of the placement meanwhile, and tells at the end what was not ours. */
  async during<T>(placement: string, writing: () => Promise<T>): Promise<T> {
    const changes: EarlyChange[] = [];
    this.#waiting.set(placement, changes);
    try {
      return await writing();
    } finally {
      this.#waiting.delete(placement);
      for (const { isOurs, tell } of changes) if (!isOurs()) tell();
    }
  }

  /** Tells at once when the placement is not being written. */
  take(placement: string, change: EarlyChange): void {
    const changes = this.#waiting.get(placement);
    if (changes === undefined || changes.length >= MAX_KEPT) change.tell();
    else changes.push(change);
  }
}
