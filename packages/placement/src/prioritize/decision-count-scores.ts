import type { Prioritizer } from './prioritizer.ts';

type CountScore = NonNullable<Prioritizer['countScore']>;

interface Kept {
  readonly scores: Int8Array;
  /** The length of the log. */
  countLogLength: number;
}

/** For how many different largest counts scores are cached. */
const MAX_KEPT = 4;

/**
 * For each largest count, the scores of all clusters for a placement that selects none of them. The
 * scores of a real placement differ only for the few clusters that it selects, and few counts
 * change from one placement to the next.
 */
export class DecisionCountScores {
  readonly #countLog: DecisionCountLog;
  readonly #size: number;
  readonly #kept = new Map<CountScore, Map<number, Kept>>();

  /** @param size number of clusters of the fleet */
  constructor(countLog: DecisionCountLog, size: number) {
    this.#countLog = countLog;
    this.#size = size;
  }

  /** Scores by cluster number. They are valid until the next count changes. Read only. */
  of(countScore: CountScore, counts: Int32Array, most: number): Int8Array {
    const { length } = this.#countLog;
    const known = this.#kept.get(countScore)?.get(most);
    const changed = known && this.#countLog.since(known.countLogLength, this.#size);
    if (known === undefined || changed === undefined) return this.#keep(countScore, counts, most);
    for (const cluster of changed)
      if (cluster < this.#size) known.scores[cluster] = countScore(counts[cluster] as number, most);
    known.countLogLength = length;
    return known.scores;
  }

  #keep(countScore: CountScore, counts: Int32Array, most: number): Int8Array {
    const table = Array.from({ length: most + 1 }, (_, count) => countScore(count, most));
    const scores = new Int8Array(this.#size);
    for (let cluster = 0; cluster < this.#size; cluster++)
      scores[cluster] = table[counts[cluster] as number] ?? countScore(counts[cluster] as number, most);
    const ofScore = this.#kept.get(countScore) ?? new Map<number, Kept>();
    if (ofScore.size >= MAX_KEPT) ofScore.clear();
    this.#kept.set(countScore, ofScore.set(most, { scores, countLogLength: this.#countLog.length }));
    return scores;
  }
}

/** A power of two. */
const KEPT = 32_768;

const NOTHING = new Uint32Array(0);

/**
 * A log of the clusters whose number of decisions changed, in order. A reader stores the length of
 * the log and can later ask what changed since then. Only the last entries are kept. A reader that
 * missed more entries has to check all clusters.
 */
export class DecisionCountLog {
  /** Entry `n` is at `n` modulo its length. */
  readonly #entries = new Uint32Array(KEPT);
  #length = 0;
  /** The last result. Consecutive placements ask for the same range. */
  #asked: { readonly from: number; readonly to: number; readonly clusters: Uint32Array } | undefined;

  /** Replaces the cluster numbers after a change of the fleet. */
  renumber(toNew: Uint32Array): void {
    const { length } = this;
    for (let at = Math.max(0, length - KEPT); at < length; at++)
      this.#entries[at % KEPT] = toNew[this.#entries[at % KEPT] as number] as number;
    this.#asked = undefined;
  }

  /** Grows with every change. */
  get length(): number {
    return this.#length;
  }

  add(cluster: number): void {
    this.#entries[this.#length % KEPT] = cluster;
    this.#length++;
  }

  /**
   * The clusters that changed since the log had this length, including repeats. Undefined if
   * they are no longer known or if there are more than `atMost`.
   */
  since(length: number, atMost: number): Uint32Array | undefined {
    const count = this.#length - length;
    if (count > KEPT || count > atMost) return undefined;
    if (count === 0) return NOTHING;
    if (this.#asked?.from !== length || this.#asked.to !== this.#length)
      this.#asked = { from: length, to: this.#length, clusters: this.#slice(length) };
    return this.#asked.clusters;
  }

  #slice(from: number): Uint32Array {
    const [first, end] = [from % KEPT, this.#length % KEPT];
    if (first < end) return this.#entries.slice(first, end);
    const clusters = new Uint32Array(this.#length - from);
    clusters.set(this.#entries.subarray(first));
    clusters.set(this.#entries.subarray(0, end), KEPT - first);
    return clusters;
  }
}
