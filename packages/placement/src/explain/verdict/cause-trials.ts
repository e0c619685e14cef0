import { PlacementEngine } from '../../engine.ts';
import { diffSnapshots } from '../../incremental/snapshot-delta.ts';
import { PublishedClusters } from '../../prior/published-clusters.ts';
import type { ScheduleResult } from '../../result/schedule-result.ts';
import type { PlacementTrace } from '../../trace/trace.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';

type List = readonly string[];
type Lists = ReadonlyMap<string, List>;

const NONE: List = [];

/** A decision, and the engine that made it. */
export interface TriedDecision {
  readonly result: ScheduleResult;
  readonly trace: PlacementTrace;
  readonly engine: PlacementEngine;
}

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
  /** The decisions that the engine counts, by owner. */
  readonly #counted = new Map<string, readonly string[]>();
  #engine: PlacementEngine | undefined;
  #at: Snapshot | undefined;

  /**
   * The clusters that the placement of a snapshot with one placement selects.
   * @param published the clusters by owner that count as published, instead of the decisions of the snapshot
   * @param reverted owners with other clusters; undefined: none are published
   */
  selected(snapshot: Snapshot, published: Lists, reverted: ReadonlyMap<string, List | undefined>): List {
    return this.decide(snapshot, published, reverted)?.result.selected ?? NONE;
  }

  /**
   * The decision of the placement of a snapshot with one placement; undefined if it has none. Its trace is valid until
   * the next call. For the parameters see `selected`.
   */
  decide(
    snapshot: Snapshot,
    published: Lists,
    reverted: ReadonlyMap<string, List | undefined> = new Map(),
  ): TriedDecision | undefined {
    const [placement] = snapshot.placements;
    if (placement === undefined) return undefined;
    const engine = this.#engineAt({ ...snapshot, placements: [], decisions: [], held: undefined });
    for (const owner of this.#counted.keys())
      if (!published.has(owner) && reverted.get(owner) === undefined) this.#count(engine, owner, NONE);
    for (const [owner, names] of published) if (!reverted.has(owner)) this.#count(engine, owner, names);
    for (const [owner, names = NONE] of reverted) this.#count(engine, owner, names);
    return { ...engine.tryPlacement(placement), engine };
  }

  #engineAt(snapshot: Snapshot): PlacementEngine {
    if (this.#engine === undefined || this.#at === undefined) this.#engine = new PlacementEngine(snapshot);
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
