/**
 * A log of the clusters whose number of decisions changed, in order. A reader stores the length of
 * the log and can later ask what changed since then. Only the last entries are kept. A reader that
 * missed more entries has to check all clusters.
 */
export class DecisionCountJournal {
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
   * The clusters that changed since the journal had this length, including repeats. Undefined if
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

/** A power of two. */
const KEPT = 32_768;
const NOTHING = new Uint32Array(0);
