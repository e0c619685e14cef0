import type { Clock } from '@berth/runtime/clock/clock';

/** How long to wait for other sources to fetch again. */
const MAX_WAIT_MS = 30_000;

interface FetchTimes {
  began: number;
  /** Start time of the last completed fetch. */
  ended: number;
}

interface FreshRequest {
  readonly about: string;
  readonly at: number;
  readonly atMs: number;
  /** The source waits and was not notified yet. */
  isWaiting: boolean;
}

/**
 * Before objects that left one source are deleted, every other source fetches once more. The objects
 * may have moved to one of them, in the same commit or in an earlier one, and sources are polled one by one.
 * Nothing blocks: the source retries later, because two sources may wait for each other.
 */
export class FreshFetches {
  readonly #clock: Clock;
  readonly #fetches: ReadonlyMap<string, FetchTimes>;
  readonly #requests = new Map<string, FreshRequest>();
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
    const times = this.#fetches.get(source);
    if (times !== undefined) times.began = ++this.#now;
  }

  /** The current content of the source is known, or could not be read. */
  ends(source: string): void {
    const times = this.#fetches.get(source);
    if (times === undefined) return;
    times.ended = times.began;
    for (const [asking, request] of this.#requests)
      if (request.isWaiting && this.#isFulfilled(asking, request)) {
        request.isWaiting = false;
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
      this.#requests.delete(source);
      return true;
    }
    let request = this.#requests.get(source);
    if (request?.about !== about) {
      request = { about, at: ++this.#now, atMs: this.#clock.now(), isWaiting: true };
      this.#requests.set(source, request);
      for (const other of this.#fetches.keys()) if (other !== source) this.#wanted(other);
    }
    return Math.abs(this.#clock.now() - request.atMs) >= MAX_WAIT_MS || this.#isFulfilled(source, request);
  }

  #isFulfilled(source: string, { at }: FreshRequest): boolean {
    return [...this.#fetches].every(([other, { ended }]) => other === source || ended > at);
  }
}
