import type { DecisionCountJournal } from './decision-count-journal.ts';
import type { Prioritizer } from './prioritizer.ts';

type CountScore = NonNullable<Prioritizer['countScore']>;

interface Kept {
  readonly scores: Int8Array;
  /** The length of the journal. */
  journalLength: number;
}

/** For how many different largest counts scores are cached. */
const MAX_KEPT = 4;

/**
 * For each largest count, the scores of all clusters for a placement that selects none of them. The
 * scores of a real placement differ only for the few clusters that it selects, and few counts
 * change from one placement to the next.
 */
export class DecisionCountScores {
  readonly #journal: DecisionCountJournal;
  readonly #size: number;
  readonly #kept = new Map<CountScore, Map<number, Kept>>();

  /** @param size number of clusters of the fleet */
  constructor(journal: DecisionCountJournal, size: number) {
    this.#journal = journal;
    this.#size = size;
  }

  /** Scores by cluster number. They are valid until the next count changes. Read only. */
  of(countScore: CountScore, counts: Int32Array, most: number): Int8Array {
    const { length } = this.#journal;
    const known = this.#kept.get(countScore)?.get(most);
    const changed = known && this.#journal.since(known.journalLength, this.#size);
    if (known === undefined || changed === undefined) return this.#keep(countScore, counts, most);
    for (const cluster of changed)
      if (cluster < this.#size) known.scores[cluster] = countScore(counts[cluster] as number, most);
    known.journalLength = length;
    return known.scores;
  }

  #keep(countScore: CountScore, counts: Int32Array, most: number): Int8Array {
    const table = Array.from({ length: most + 1 }, (_, count) => countScore(count, most));
    const scores = new Int8Array(this.#size);
    for (let cluster = 0; cluster < this.#size; cluster++)
      scores[cluster] = table[counts[cluster] as number] ?? countScore(counts[cluster] as number, most);
    const ofScore = this.#kept.get(countScore) ?? new Map<number, Kept>();
    if (ofScore.size >= MAX_KEPT) ofScore.clear();
    this.#kept.set(countScore, ofScore.set(most, { scores, journalLength: this.#journal.length }));
    return scores;
  }
}
