import type { Logger } from '../../core/ports.ts';
import type { Snapshot } from '../../core/snapshot/snapshot.ts';
import type { Transition } from '../../core/transition/transition.ts';
import {
  placementMovesOf,
  type PlacementMove,
  snapshotBefore,
  unionOfMoves,
} from '../../core/transition/unfinished-transition.ts';

/** Stores the moves of the last transition. */
export interface TransitionStore {
  get(key: string): readonly PlacementMove[] | undefined;
  /** Resolves when the state is durable. */
  persist(key: string, moves: readonly PlacementMove[]): Promise<void>;
  delete(key: string): void;
}

const LAST = 'last';

/**
 * Allows a transition that a crash interrupted to start again from the same state, and so to end with the same result.
 * The moves of a transition are stored before the first write. The first transition that the next process publishes
 * starts from the pages as they were before these moves.
 */
export class TransitionJournal {
  readonly #memory: TransitionStore;
  readonly #log: Logger;
  /** The moves that the previous process stored and did not complete. */
  #unfinished: readonly PlacementMove[] | undefined;

  constructor(memory: TransitionStore, log: Logger) {
    this.#memory = memory;
    this.#log = log;
    const moves = memory.get(LAST) ?? [];
    this.#unfinished = moves.length === 0 ? undefined : moves;
  }

  /** Whether the next published transition must start from `startingSnapshot`. */
  get isUnfinished(): boolean {
    return this.#unfinished !== undefined;
  }

  /** The snapshot from which the next transition starts. @param snapshot the current state of the hub */
  startingSnapshot(snapshot: Snapshot): Snapshot {
    if (this.#unfinished === undefined) return snapshot;
    const before = snapshotBefore(snapshot, this.#unfinished);
    if (before === undefined) this.#unfinished = undefined;
    return before ?? snapshot;
  }

  /**
   * A transition that started from the hub at one commit has ended, and its moves are about to be published. Resolves
   * when they are stored.
   * @param moved includes the moves of earlier transitions that are not published yet
   */
  async begin(moved: Transition['moved']): Promise<void> {
    this.#unfinished = undefined;
    await this.#keep(placementMovesOf(moved));
  }

  /**
   * A transition has ended that may have started from a half-applied commit, so perhaps none of its moves will be
   * published. Unfinished moves stay unfinished. Resolves when all moves that may be published are stored.
   */
  async beginOnHalf(moved: Transition['moved']): Promise<void> {
    await this.#keep(unionOfMoves(this.#unfinished ?? [], placementMovesOf(moved)));
  }

  /** Another process has published since, or the hub is another one. */
  forget(): void {
    this.#memory.delete(LAST);
    this.#unfinished = undefined;
  }

  async #keep(moves: readonly PlacementMove[]): Promise<void> {
    const isAtRest = moves.length === 0;
    if (isAtRest && (this.#memory.get(LAST) ?? []).length === 0) return;
    const kept = this.#memory.persist(LAST, moves).catch((error: unknown) =>
      // As for removals: a full disk loses memory, never a decision.
      this.#log.error('the moves of a transition were not stored, so it may end differently after a crash', {
        error,
      }),
    );
    // An empty list of moves need not be durable.
    if (!isAtRest) await kept;
  }
}
