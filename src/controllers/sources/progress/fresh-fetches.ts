import type { Clock } from '../../../core/ports.ts';

/** How long to wait for other sources to fetch again. */
const MAX_WAIT_MS = 30_000;

interface Look {
  began: number;
  /** Start time of the last completed fetch. */
  ended: number;
}

interface Asked {
  readonly about: string;
  readonly at: number;
  readonly atMs: number;
  /** The source waits and was not notified yet. */
  isWaiting: boolean;
}

/**
 * Before objects that left one source are deleted, every other source fetches once more: they may
 * have moved there, in the same commit or in an earlier one, and sources are polled one by one.
 * Nothing blocks: the source retries later, because two sources may wait for each other.
 */
export class FreshFetches {
  readonly #clock: Clock;
  readonly #fetches: ReadonlyMap<string, Look>;
  readonly #asked = new Map<string, Asked>();
  #now = 0;
  #wanted: (source: string) => void = () => undefined;

  constructor(clock: Clock, sources: readonly string[]) {
    this.#clock = clock;
    this.#fetches = new Map(sources.map((source) => [source, { began: 0, ended: 0 }]));
  }

  /**
   * @param listener called for each source that must fetch immediately, or again after its current
   * fetch
   */
  onWanted(listener: (source: string) => void): void {
    this.#wanted = listener;
  }

  begins(source: string): void {
    const look = this.#fetches.get(source);
    if (look !== undefined) look.began = ++this.#now;
  }

  /** The current content of the source is known, or could not be read. */
  ends(source: string): void {
    const look = this.#fetches.get(source);
    if (look === undefined) return;
    look.ended = look.began;
    for (const [asking, asked] of this.#asked)
      if (asked.isWaiting && this.#isAnswered(asking, asked)) {
        asked.isWaiting = false;
        this.#wanted(asking);
      }
  }

  /**
   * Whether all other sources have fetched since this source first asked about these deletions, or
   * took too long.
   * @param about identifies the deletions; '' for none, after which the next ones need new fetches
   */
  areFresh(source: string, about: string): boolean {
    if (about === '') {
      this.#asked.delete(source);
      return true;
    }
    let asked = this.#asked.get(source);
    if (asked?.about !== about) {
      asked = { about, at: ++this.#now, atMs: this.#clock.now(), isWaiting: true };
      this.#asked.set(source, asked);
      for (const other of this.#fetches.keys()) if (other !== source) this.#wanted(other);
    }
    return Math.abs(this.#clock.now() - asked.atMs) >= MAX_WAIT_MS || this.#isAnswered(source, asked);
  }

  #isAnswered(source: string, { at }: Asked): boolean {
    return [...this.#fetches].every(([other, { ended }]) => other === source || ended > at);
  }
}
