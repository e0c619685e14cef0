import type { Clock } from '../../../core/ports.ts';

/** How long to wait for other sources to fetch again. */
const MAX_WAIT_MS = 30_000;

interface Look {
  began: number;
  /** The start time of the last fetch that ended. */
  ended: number;
}

interface Asked {
  readonly about: string;
  readonly at: number;
  readonly atMs: number;
  /** Whether the source still has to be notified that the others have fetched. */
  isWaiting: boolean;
}

/**
 * Before objects that left one source are deleted, every other source fetches once more. The objects may have moved
 * there, in the same commit or in an earlier one, and sources are polled independently. Nothing blocks: a source that
 * asks tries again later, because two sources may ask each other.
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

  /** @param listener called for each source that must fetch now, or again after its current fetch */
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
   * Whether all other sources have fetched since this source first asked about these deletions, or took too long.
   * @param about identifies the deletions; '' if there are none, so that the next ones require new fetches
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
