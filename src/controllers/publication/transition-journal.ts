import type { Logger } from '../../core/ports.ts';
import type { Snapshot } from '../../core/snapshot/snapshot.ts';
import type { Transition } from '../../core/transition/transition.ts';
import {
  placementMovesOf,
  type PlacementMove,
  snapshotBefore,
} from '../../core/transition/unfinished-transition.ts';

/** Where the moves of the last transition are kept. */
export interface TransitionStore {
  get(key: string): readonly PlacementMove[] | undefined;
  /** Resolves when the state would survive the process. */
  persist(key: string, moves: readonly PlacementMove[]): Promise<void>;
  delete(key: string): void;
}

const LAST = 'last';

/**
 * Lets a transition that was cut short start again where it started, and so end where it would have ended. What it is about to publish
 * is kept before the first write; the first transition of the next process that publishes starts from the pages as they were before.
 */
export class TransitionJournal {
  readonly #memory: TransitionStore;
  readonly #log: Logger;
  /** Of the process before this one. */
  #unfinished: readonly PlacementMove[] | undefined;

  constructor(memory: TransitionStore, log: Logger) {
    this.#memory = memory;
    this.#log = log;
    const moves = memory.get(LAST) ?? [];
    this.#unfinished = moves.length === 0 ? undefined : moves;
  }

  /** A transition that is to be published has to start from `snapshotToStart`. */
  get isUnfinished(): boolean {
    return this.#unfinished !== undefined;
  }

  /** Where the next transition starts. @param snapshot as the hub is now */
  startingSnapshot(snapshot: Snapshot): Snapshot {
    return this.#unfinished === undefined ? snapshot : snapshotBefore(snapshot, this.#unfinished);
  }

  /**
   * A transition ended, and what it moved is about to be published. Resolves when that is kept.
   * @param moved what earlier transitions moved and is not published yet as well
   * @param isWhole it started from the hub at one commit; on half of one, what is unfinished stays so
   */
  async begin(moved: Transition['moved'], isWhole: boolean): Promise<void> {
    if (!isWhole && this.#unfinished !== undefined) return;
    const isAtRest = moved.size === 0;
    if (!isAtRest || (this.#memory.get(LAST) ?? []).length > 0) {
      const kept = this.#keep(placementMovesOf(moved));
      if (!isAtRest) await kept;
    }
    this.#unfinished = undefined;
  }

  /** Another process published since, or the hub is another one. */
  forget(): void {
    this.#memory.delete(LAST);
    this.#unfinished = undefined;
  }

  #keep(moves: readonly PlacementMove[]): Promise<void> {
    return this.#memory.persist(LAST, moves).catch((error: unknown) =>
      // As with removals: a full disk costs memory, never a decision.
      this.#log.error('a transition that is cut short may end elsewhere', { error }),
    );
  }
}
