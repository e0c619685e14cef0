/**
 * Which clusters were decided more or less often, in the order in which that happened: who notes how long the journal
 * was can later ask what changed since. Only the last entries are kept; whoever missed more has to look at everything.
 */
export class CountJournal {
  #entries: number[] = [];
  /** How many entries were dropped from the front. */
  #dropped = 0;

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
    return length === this.length ? NOTHING : this.#entries.slice(length - this.#dropped);
  }
}

const KEPT = 16_384;
const NOTHING: readonly number[] = [];
