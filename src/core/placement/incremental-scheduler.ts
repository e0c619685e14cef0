import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ResultGenerator, EngineOptions } from './engine.ts';
import { PlacementEngine } from './engine.ts';
import { PublishedClusters } from './prior/published-clusters.ts';
import { diffSnapshots } from './follow/snapshot-delta.ts';

/**
 * Schedules one snapshot after the other, with the results of `scheduleAll`, byte for byte. The cost depends on what
 * changed between them. Objects are compared by identity: the reader of a snapshot must hand out an unchanged object as
 * the same object, and no kind may have a name twice. Unchanged results are the same objects as well.
 */
export class IncrementalScheduler {
  readonly #options: EngineOptions;
  #last:
    | { readonly snapshot: Snapshot; readonly engine: PlacementEngine; readonly published: PublishedClusters }
    | undefined;

  constructor(options: EngineOptions = {}) {
    this.#options = options;
  }

  /**
   * Yields one result per placement of the snapshot, in its order, each computed on demand. A caller that needs no more
   * of them ends the generator (as leaving a `for` loop does); the results of the next snapshot do not depend on that.
   */
  *decide(snapshot: Snapshot): ResultGenerator {
    const last = this.#last;
    // An engine that failed is not used again.
    this.#last = undefined;
    const engine = last?.engine ?? new PlacementEngine(snapshot, this.#options);
    const published = last?.published ?? new PublishedClusters();
    const pages = published.read(snapshot.decisions);
    const results =
      last === undefined
        ? engine.scheduleEach()
        : engine.scheduleAgain(diffSnapshots(last.snapshot, snapshot), snapshot.placements, pages);
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
