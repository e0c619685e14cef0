import type { World } from '../snapshot/world.ts';
import type { EachResult, EngineOptions } from './engine.ts';
import { PlacementEngine } from './engine.ts';
import { PublishedClusters } from './prior/published-clusters.ts';
import { worldDelta } from './follow/world-delta.ts';

/**
 * Decides one world after the other, each read fresh, as `scheduleAll` would, byte for byte; what it costs hangs on what
 * changed between them. Objects are compared by identity: the reader of a world must hand out an unchanged object as the
 * same object, and no kind may have a name twice. Results to which nothing happened are the same objects as well.
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
   * One result per placement of the world, in its order, each computed when it is asked for. A caller that wants no more of them
   * ends the generator (as leaving a `for` loop does): the next world is decided the same, whatever was left out of this one.
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
