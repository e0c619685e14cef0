import { PlacementEngine } from '../placement/engine.ts';
import { diffSnapshots } from '../placement/incremental/snapshot-delta.ts';
import { PublishedClusters } from '../placement/prior/published-clusters.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

const NONE: readonly string[] = [];

/**
 * Decides placements one by one on similar snapshots. One incremental engine moves from snapshot to
 * snapshot, so that each costs only the differences. The results equal those of a new engine with
 * this placement alone.
 */
export class CauseTrials {
  /**
   * Readers of what is published in the earlier and in the later snapshot, which reuse unchanged
   * parts.
   */
  readonly earlier = new PublishedClusters();
  readonly later = new PublishedClusters();
  readonly #pages = new PublishedClusters();
  /** The decisions that the engine counts, by owner. */
  readonly #counted = new Map<string, readonly string[]>();
  #engine: PlacementEngine | undefined;
  #at: Snapshot | undefined;

  /** The clusters that the placement of a snapshot with one placement selects. */
  selected(snapshot: Snapshot): readonly string[] {
    const [placement] = snapshot.placements;
    if (placement === undefined) return NONE;
    const engine = this.#engineAt({ ...snapshot, placements: [], held: undefined });
    const { clusters } = this.#pages.read(snapshot.decisions);
    for (const owner of this.#counted.keys()) if (!clusters.has(owner)) this.#count(engine, owner, NONE);
    for (const [owner, names] of clusters) this.#count(engine, owner, names);
    return engine.tryPlacement(placement).result.selected;
  }

  #engineAt(snapshot: Snapshot): PlacementEngine {
    if (this.#engine === undefined || this.#at === undefined)
      this.#engine = new PlacementEngine({ ...snapshot, decisions: [] });
    else this.#engine.applyDelta(diffSnapshots(this.#at, snapshot));
    this.#at = snapshot;
    return this.#engine;
  }

  #count(engine: PlacementEngine, owner: string, names: readonly string[]): void {
    if (this.#counted.get(owner) === names) return;
    engine.recordPublished(owner, names);
    if (names === NONE) this.#counted.delete(owner);
    else this.#counted.set(owner, names);
  }
}
