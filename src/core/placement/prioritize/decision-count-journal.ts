/**
 * A log of the clusters whose number of decisions changed, in order. A reader that stores the log's length can later
 * ask what changed since. Only the last entries are kept; a reader that missed more has to check all clusters.
 */
export class DecisionCountJournal {
  #entries: number[] = [];
  /** How many entries were dropped from the front. */
  #dropped = 0;
  /** The last answer, because consecutive placements ask the same. */
  #asked: { readonly from: number; readonly to: number; readonly clusters: readonly number[] } | undefined;

  /** The clusters have other numbers from now on. */
  renumber(toNew: Uint32Array): void {
    this.#entries = this.#entries.map((cluster) => toNew[cluster] as number);
    this.#asked = undefined;
  }

  /** Grows with every change. */
  get length(): number {
    return this.#dropped + this.#entries.length;
  }

  add(cluster: number): void {
    this.#entries.push(cluster);
    if (this.#entries.length < 2 * KEPT) return;
    this.#entries = this.#entries.slice(KEPT);
    this.#dropped += KEPT;
  }

  /**
   * The clusters that changed since the journal had this length, repeats included; undefined: no longer known, or more than
   * `atMost` of them.
   */
  since(length: number, atMost: number): readonly number[] | undefined {
    if (length < this.#dropped || this.length - length > atMost) return undefined;
    if (length === this.length) return NOTHING;
    if (this.#asked?.from !== length || this.#asked.to !== this.length) {
      const clusters = this.#entries.slice(length - this.#dropped);
      this.#asked = { from: length, to: this.length, clusters };
    }
    return this.#asked.clusters;
  }
}

const KEPT = 16_384;
const NOTHING: readonly number[] = [];
