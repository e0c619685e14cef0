import type { Snapshot } from './snapshot/snapshot.ts';
import { type EngineOptions, PlacementEngine, type ResultGenerator } from './engine.ts';
import { PublishedClusters } from './prior/published-clusters.ts';
import { diffSnapshots } from './incremental/snapshot-delta.ts';

/**
 * Schedules one snapshot after the other. The results are those of `scheduleAll`, byte for byte.
 * The cost depends on what changed between two snapshots. Objects are compared by identity: the
 * reader of snapshots must return an unchanged object as the same object, and a name must be unique
 * within its kind. Unchanged results are the same objects too.
 */
export class IncrementalScheduler {
  readonly #options: EngineOptions;
  #last:
    | { readonly snapshot: Snapshot; readonly engine: PlacementEngine; readonly published: PublishedClusters }
    | undefined;

  #engine: PlacementEngine | undefined;

  constructor(options: EngineOptions = {}) {
    this.#options = options;
  }

  /** The engine of the decisions that are being made, or else of the last ones. */
  get engine(): PlacementEngine | undefined {
    return this.#engine;
  }

  /**
   * Yields one result per placement, in the order of the snapshot. Each result is computed on
   * demand. A caller that needs no more results ends the generator, as leaving a `for` loop does.
   * The results of the next snapshot do not depend on this.
   */
  *decide(snapshot: Snapshot): ResultGenerator {
    const last = this.#last;
    // If the engine fails, it is not used again.
    this.#last = undefined;
    const engine = last?.engine ?? new PlacementEngine(snapshot, this.#options);
    this.#engine = engine;
    const published = last?.published ?? new PublishedClusters();
    const pages = published.read(snapshot.decisions);
    const results =
      last === undefined
        ? engine.scheduleEach()
        : engine.scheduleAgain(diffSnapshots(last.snapshot, snapshot), snapshot, pages);
    let failed = false;
    try {
      yield* results;
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      if (!failed) this.#last = { snapshot, engine, published };
    }
  }
}

/** Berth's own engine. Between cycles it computes again only what changed, and each result only on demand. */
export function startEngine(): (snapshot: Snapshot) => ResultGenerator {
  const scheduler = new IncrementalScheduler();
  return (snapshot) => scheduler.decide(snapshot);
}
