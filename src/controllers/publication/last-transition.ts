import { namespacedName } from '@berth/kube/model/object-ref';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { Logger } from '@berth/runtime/logger';
import {
  type Transition,
  type MovedPlacement,
  withPublishedClusters,
} from '../../core/transition/transition.ts';
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
 * Makes an interrupted transition repeatable, with the same result. Its moves are stored before the
 * first write; the first transition of the next process starts from the pages as they were before
 * these writes.
 */
export class LastTransition {
  readonly #store: TransitionStore;
  readonly #log: Logger;
  /** The moves that the previous process stored and did not complete. */
  #unfinished: readonly PlacementMove[] | undefined;

  constructor(store: TransitionStore, log: Logger) {
    this.#store = store;
    this.#log = log;
    const moves = store.get(LAST) ?? [];
    this.#unfinished = moves.length === 0 ? undefined : moves;
  }

  /** Whether the next published transition must start from `startingSnapshot`. */
  get isUnfinished(): boolean {
    return this.#unfinished !== undefined;
  }

  /**
   * The snapshot from which the next transition starts.
   * @param snapshot the current state of the hub
   */
  startingSnapshot(snapshot: Snapshot): Snapshot {
    if (this.#unfinished === undefined) return snapshot;
    const before = snapshotBefore(snapshot, this.#unfinished);
    if (before === undefined) this.#unfinished = undefined;
    return before ?? snapshot;
  }

  /**
   * Called when a transition from the hub at one commit has ended, before its moves are published.
   * Resolves when the moves are stored.
   * @param moved all moves that are not published yet, including those of earlier transitions
   */
  async begin(moved: Transition['moved']): Promise<void> {
    this.#unfinished = undefined;
    await this.#persist(placementMovesOf(moved));
  }

  /**
   * Called when a transition has ended that possibly started from a partly applied commit, so that
   * perhaps none of its moves are published. Unfinished moves stay unfinished. Resolves when the
   * moves are stored.
   */
  async beginOnPartialCommit(moved: Transition['moved']): Promise<void> {
    await this.#persist(unionOfMoves(this.#unfinished ?? [], placementMovesOf(moved)));
  }

  /** Called when another process has published since, or when the hub was restored or replaced. */
  forget(): void {
    this.#store.delete(LAST);
    this.#unfinished = undefined;
  }

  async #persist(moves: readonly PlacementMove[]): Promise<void> {
    const isEmpty = moves.length === 0;
    if (isEmpty && (this.#store.get(LAST) ?? []).length === 0) return;
    const kept = this.#store.persist(LAST, moves).catch((error: unknown) =>
      // A full disk loses what Berth remembers, but no decision.
      this.#log.error('the moves of a transition were not stored, so it may end differently after a crash', {
        error,
      }),
    );
    // An empty list of moves need not be durable.
    if (!isEmpty) await kept;
  }
}

/**
 * Moves of transitions that the hub does not show yet. Writing a thousand pages may take longer
 * than the time until the next commit, so the next transition starts from the decisions that will
 * be published, not from the part that is written.
 */
export class UnpublishedMoves {
  /** By `namespace/name` of the placement. */
  readonly #moves = new Map<string, MovedPlacement>();
  #waiting: { readonly start: Snapshot; readonly moved: Transition['moved'] } | undefined;

  /**
   * Called when a transition has ended that possibly started from a partly applied commit, so that
   * perhaps none of its moves are published.
   * @returns all moves that would then be unpublished, each from the published to the decided
   * clusters
   */
  wait({ moved }: Pick<Transition, 'moved'>, start: Snapshot): ReadonlyMap<string, MovedPlacement> {
    this.#waiting = { start, moved };
    return new Map([...this.#moves, ...this.#fromPublished(moved)]);
  }

  /**
   * Called when the snapshot that the waiting transition started from proves to show complete commits.
   * @returns the same as `begin`; undefined if no waiting transition started there
   */
  beginWaiting(start: Snapshot): ReadonlyMap<string, MovedPlacement> | undefined {
    return this.#waiting?.start === start ? this.begin(this.#waiting) : undefined;
  }

  /**
   * Called when a transition has ended, before its moves are published.
   * @returns all unpublished moves, each from the published to the decided clusters
   */
  begin({ moved }: Pick<Transition, 'moved'>): ReadonlyMap<string, MovedPlacement> {
    this.#waiting = undefined;
    for (const [key, move] of this.#fromPublished(moved)) this.#moves.set(key, move);
    return this.#moves;
  }

  /** Called when the placement is published, or will not be published for now. */
  end(key: string): void {
    this.#moves.delete(key);
  }

  /** Forgets all moves. */
  clear(): void {
    this.#moves.clear();
  }

  /**
   * The snapshot in which all moves are published.
   * @param snapshot the current state of the hub
   */
  snapshotAfter(snapshot: Snapshot): Snapshot {
    if (this.#moves.size === 0) return snapshot;
    const outcomes = new Map<string, readonly string[]>();
    for (const { metadata } of snapshot.placements) {
      const move = this.#moves.get(namespacedName(metadata));
      if (move !== undefined && move.uid === metadata.uid) outcomes.set(namespacedName(metadata), move.after);
    }
    return withPublishedClusters(snapshot, outcomes);
  }

  /** A transition treats moves in progress as published. This restores the clusters that are really published. */
  #fromPublished(moved: Transition['moved']): readonly (readonly [string, MovedPlacement])[] {
    return [...moved].map(([key, move]) => {
      const { uid, before } = this.#moves.get(key) ?? move;
      return [key, { ...move, before: uid === move.uid ? before : move.before }];
    });
  }
}
