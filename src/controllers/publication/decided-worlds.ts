import { lostBecause, type LostClusters } from '../../core/explain/lost-because.ts';
import { decisionOwner } from '../../core/placement/prior/decision-owner.ts';
import type { ScheduleResult } from '../../core/placement/result/schedule-result.ts';
import type { WorldAge } from '../../core/publish/machine/state/placement-facts.ts';
import type { World } from '../../core/snapshot/world.ts';
import type { CommitBarrier } from '../sources/progress/commit-barrier.ts';

export interface DecidedWorldsOptions {
  readonly barrier: Pick<CommitBarrier, 'isHalf'>;
  /** Increases with every change of an object that worlds contain. */
  readonly revision: () => number;
  /** A world turned out to show the hub at one commit, before anything of what follows from it is published. */
  readonly onWhole?: (world: World) => void;
  /** The world that a result was decided in; undefined when that is unknown. */
  readonly worldOf: (result: ScheduleResult) => World | undefined;
}

/** Of a world that was out of date when it was made. */
const NO_REVISION = -1;

/**
 * The worlds that results were decided from: whether they showed the hub at one commit, and what was published in
 * them.
 */
export class DecidedWorlds {
  readonly #options: DecidedWorldsOptions;
  readonly #whole = new WeakSet<World>();
  readonly #revisionOf = new WeakMap<World, number>();
  /** For each world in which a transition ended, the one in which it began, as the hub was. */
  readonly #starts = new WeakMap<World, World>();

  constructor(options: DecidedWorldsOptions) {
    this.#options = options;
  }

  /** A world of now. */
  made(world: World): World {
    if (this.#options.barrier.isHalf) this.#revisionOf.set(world, this.#options.revision());
    else this.#whole.add(world);
    return world;
  }

  /** A world of now from which nothing may be published: it is to be decided again. */
  overtaken(world: World): World {
    this.#revisionOf.set(world, NO_REVISION);
    return world;
  }

  /** Did the world show the hub at one commit when it was made? */
  isWhole(world: World): boolean {
    return this.#whole.has(world);
  }

  /** A transition that began in one world decided in the other. */
  decided(world: World, start: World): void {
    this.#starts.set(world, start);
  }

  /** Whether the world of the result showed the hub at one commit. */
  ageOf(result: ScheduleResult): WorldAge {
    const world = this.#startOf(result);
    if (world === undefined || this.#whole.has(world)) return 'whole';
    const { barrier, revision } = this.#options;
    if (barrier.isHalf) return 'half';
    if (this.#revisionOf.get(world) !== revision()) return 'overtaken';
    // The commit was all there, and only the last answer was missing.
    this.#whole.add(world);
    this.#options.onWhole?.(world);
    return 'whole';
  }

  /** Did the pages in the world that the result was decided from list all these clusters as the placement's? */
  knew(key: string, result: ScheduleResult, clusters: readonly string[]): boolean {
    const world = this.#startOf(result);
    if (world === undefined) return true;
    const own = world.decisions.filter((page) => decisionOwner(page) === key);
    const known = new Set(own.flatMap(({ status }) => status?.decisions ?? []).map((d) => d.clusterName));
    return clusters.every((cluster) => known.has(cluster));
  }

  /** Why the result does not have these clusters. */
  lostBecause(result: ScheduleResult, clusters: readonly string[]): readonly LostClusters[] {
    const world = this.#options.worldOf(result);
    return world === undefined ? [] : lostBecause(world, result.placement, clusters);
  }

  #startOf(result: ScheduleResult): World | undefined {
    const world = this.#options.worldOf(result);
    return world === undefined ? undefined : (this.#starts.get(world) ?? world);
  }
}
