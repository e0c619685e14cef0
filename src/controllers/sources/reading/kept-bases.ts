import type { KeptCommit } from './read-commit.ts';

/**
 * The last base that was read of each source. Its files and objects are the very same ones in the next plan, so that what
 * was computed of them is found again. What neither this plan nor the last one read is forgotten.
 */
export class KeptBases {
  #now = new Map<string, KeptCommit>();
  #before = new Map<string, KeptCommit>();

  /** Another plan begins. */
  beginPlan(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  /** @param source everything that decides what is read of a commit */
  of(source: string): KeptCommit | undefined {
    return this.#now.get(source) ?? this.#before.get(source);
  }

  /** @param commit is not changed from now on */
  keep(source: string, commit: KeptCommit): void {
    this.#now.set(source, commit);
  }
}
