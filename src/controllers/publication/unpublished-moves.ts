import { namespacedName } from '@berth/kube/model/object-ref';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { MovedPlacement, Transition } from '../../core/transition/transition.ts';
import { withPublishedClusters } from '../../core/transition/with-published-clusters.ts';

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
