import type { PlacementDecision } from '../../model/placement-decision.ts';
import type { World } from '../../snapshot/world.ts';
import type { EngineOptions } from '../engine.ts';
import { PlacementEngine } from '../engine.ts';
import { decisionOwner } from '../decision-book.ts';
import type { ScheduleResult } from '../schedule-result.ts';
import { placementKey } from '../scheduling-index.ts';
import { worldDelta } from './world-delta.ts';

/**
 * Decides one world after the other, each read fresh, as `scheduleAll` would, byte for byte; what it costs hangs on what
 * changed between them. Objects are compared by identity: whoever reads a world must hand out an unchanged object as the
 * same object, and no kind may have a name twice. Results to which nothing happened are the same objects as well.
 */
export class WorldFollower {
  readonly #options: EngineOptions;
  #last: { readonly world: World; readonly engine: PlacementEngine } | undefined;
  /** Pages of each placement, and the clusters on them. */
  #published = new Map<string, Published>();

  constructor(options: EngineOptions = {}) {
    this.#options = options;
  }

  /**
   * One result per placement of the world, in its order, each computed when it is asked for. Whoever wants no more of them
   * ends the generator (as leaving a `for` loop does): the next world is decided the same, whatever was left out of this one.
   */
  *decide(world: World): Generator<ScheduleResult, void> {
    const last = this.#last;
    // An engine that failed is not used again.
    this.#last = undefined;
    if (last === undefined) {
      const engine = new PlacementEngine(world, this.#options);
      const results = engine.scheduleAll();
      this.#last = { world, engine };
      yield* results;
      return;
    }
    const keys = world.placements.map(placementKey);
    const results = last.engine.scheduleAgain(worldDelta(last.world, world), keys, this.#publishedIn(world));
    let failed = false;
    try {
      yield* results;
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      if (!failed) this.#last = { world, engine: last.engine };
    }
  }

  #publishedIn({ decisions }: World): ReadonlyMap<string, readonly string[]> {
    const pages = new Map<string, PlacementDecision[]>();
    for (const page of decisions) {
      const owner = decisionOwner(page) ?? '';
      const known = pages.get(owner);
      if (known === undefined) pages.set(owner, [page]);
      else known.push(page);
    }
    this.#published = new Map(
      [...pages].map(([owner, of]) => [owner, publishedOn(of, this.#published.get(owner))]),
    );
    return new Map([...this.#published].map(([owner, { clusters }]) => [owner, clusters]));
  }
}

interface Published {
  readonly pages: readonly PlacementDecision[];
  readonly clusters: readonly string[];
}

function publishedOn(pages: readonly PlacementDecision[], before: Published | undefined): Published {
  const isSame =
    before?.pages.length === pages.length && pages.every((page, at) => page === before.pages[at]);
  if (before !== undefined && isSame) return before;
  const clusters = pages.flatMap(({ status }) =>
    (status?.decisions ?? []).map(({ clusterName }) => clusterName),
  );
  return { pages, clusters };
}
