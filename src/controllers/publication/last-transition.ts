import { namespacedName } from '@berth/kube/model/object-ref';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { Logger } from '@berth/runtime/logger';
import {
  type Transition,
  type MovedPlacement,
  withPublishedClusters,
} from '../../core/transition/transition.ts';
import {
  movesUnderWay,
  placementMovesOf,
  type PlacementMove,
} from '../../core/transition/unfinished-transition.ts';
import type { HubTransition } from './hub-transition.ts';

/** Stores the moves of the last transition. */
export interface TransitionStore {
  get(key: string): readonly PlacementMove[] | undefined;
  /** Resolves when the state is durable. */
  persist(key: string, moves: readonly PlacementMove[]): Promise<void>;
}

/** The key of the moves. Earlier versions stored other ones as `last`. */
const MOVES = 'decided';

/**
 * The moves of an interrupted transition. They are stored before the first write, and the next process makes the rest. What
 * was decided on a partly applied commit is not stored, because nothing of it is published.
 */
export class LastTransition {
  readonly #store: TransitionStore;
  readonly #log: Logger;
  readonly #onHub: HubTransition | undefined;
  /** The moves that the previous process perhaps did not complete. */
  #unfinished: readonly PlacementMove[] = [];
  #storing: Promise<unknown> = Promise.resolve();
  #ofLastLeader: readonly PlacementMove[] = [];
  /** What the hub has, and does not show completely yet. */
  #handedOver: readonly PlacementMove[] = [];

  /** @param onHub for the next leader, which may run on another machine. Absent: there is none */
  constructor(store: TransitionStore, log: Logger, onHub?: HubTransition) {
    this.#store = store;
    this.#log = log;
    this.#onHub = onHub;
    this.#unfinished = store.get(MOVES) ?? [];
  }

  /** Whether the next published transition must go on with `takeUnfinished`. */
  get isUnfinished(): boolean {
    return this.#unfinished.length > 0;
  }

  /** The moves of the previous process, the first time. From then on they are the caller's. */
  takeUnfinished(): readonly PlacementMove[] {
    const moves = this.#unfinished;
    this.#unfinished = [];
    return moves;
  }

  /**
   * Called when a transition from the hub at one commit has ended, before its moves are published.
   * @param moved all moves that are not published yet, including those of earlier transitions
   * @param start the snapshot in which it started
   */
  begin(moved: Transition['moved'], start: Snapshot): Promise<void> {
    const moves = placementMovesOf(moved);
    this.#storing = Promise.all([this.#persist(moves), this.#handOver(moves, start)]);
    return this.whenStored();
  }

  /** Resolves when the moves of the last transition are stored. Nothing of it may be published before. */
  async whenStored(): Promise<void> {
    await this.#storing;
  }

  /** Called when the hub was restored or replaced. */
  forget(): void {
    void this.#keep([]);
    this.#unfinished = [];
  }

  /**
   * Called when this process has become the leader, before it writes.
   * @throws TransientError while the hub does not answer
   */
  async readLastLeader(): Promise<void> {
    this.#ofLastLeader = (await this.#onHub?.read()) ?? [];
    this.#handedOver = this.#ofLastLeader;
    // The data directory was lost, or this was never in it.
    if (this.#store.get(MOVES) === undefined) this.#unfinished = this.#ofLastLeader;
  }

  /** Called after `readLastLeader`, when another process has published since this one did. */
  takeOver(): void {
    this.#unfinished = this.#ofLastLeader;
    void this.#keep(this.#ofLastLeader);
  }

  async #persist(moves: readonly PlacementMove[]): Promise<void> {
    const isEmpty = moves.length === 0;
    if (isEmpty && (this.#store.get(MOVES) ?? []).length === 0) return;
    const kept = this.#keep(moves);
    // An empty list of moves need not be durable.
    if (!isEmpty) await kept;
  }

  /** What the hub has stays there while nothing follows and the pages show it: then it means nothing, and a write is saved. */
  async #handOver(moves: readonly PlacementMove[], start: Snapshot): Promise<void> {
    if (this.#onHub === undefined) return;
    const isEmpty = moves.length === 0;
    const isSaved = isEmpty && movesUnderWay(start, this.#handedOver).size === 0;
    this.#handedOver = moves;
    if (isSaved) return;
    const written = this.#onHub.write(moves);
    if (!isEmpty) await written;
  }

  #keep(moves: readonly PlacementMove[]): Promise<void> {
    return this.#store.persist(MOVES, moves).catch((error: unknown) =>
      // A full disk loses what Berth remembers, but no decision.
      this.#log.error('the moves of a transition were not stored, so it may end differently after a crash', {
        error,
      }),
    );
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

  /** Goes on with moves that an earlier process decided. */
  resume(moves: Transition['moved']): void {
    for (const [key, move] of moves) this.#moves.set(key, move);
  }

  /**
   * Called when a transition has ended that possibly started from a partly applied commit. Its moves are not published
   * unless `beginWaiting` is called.
   */
  wait({ moved }: Pick<Transition, 'moved'>, start: Snapshot): void {
    this.#waiting = { start, moved };
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
