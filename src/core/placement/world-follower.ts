import type { World } from '../snapshot/world.ts';
import type { EachResult, EngineOptions } from './engine.ts';
import { PlacementEngine } from './engine.ts';
import { PublishedClusters } from './prior/published-clusters.ts';
import { worldDelta } from './follow/world-delta.ts';

/**
 * Schedules one world after the other, with the results of `scheduleAll`, byte for byte. The cost depends on what
 * changed between them. Objects are compared by identity: the reader of a world must hand out an unchanged object as
 * the same object, and no kind may have a name twice. Unchanged results are the same objects as well.
 */
export class WorldFollower {
  readonly #options: EngineOptions;
  #last:
    | { readonly world: World; readonly engine: PlacementEngine; readonly published: PublishedClusters }
    | undefined;

  constructor(options: EngineOptions = {}) {
    this.#options = options;
  }

  /**
   * Yields one result per placement of the world, in its order, each computed on demand. A caller that needs no more
   * of them ends the generator (as leaving a `for` loop does); the results of the next world do not depend on that.
   */
  *decide(world: World): EachResult {
    const last = this.#last;
    // An engine that failed is not used again.
    this.#last = undefined;
    const engine = last?.engine ?? new PlacementEngine(world, this.#options);
    const published = last?.published ?? new PublishedClusters();
    const pages = published.read(world.decisions);
    const results =
      last === undefined
        ? engine.scheduleEach()
        : engine.scheduleAgain(worldDelta(last.world, world), world.placements, pages);
    let failed = false;
    try {
      yield* results;
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      if (!failed) this.#last = { world, engine, published };
    }
  }
}
