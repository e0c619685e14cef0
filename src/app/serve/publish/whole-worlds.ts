import type { World } from '../../../core/snapshot/world.ts';
import type { CommitBarrier } from '../sync/commit-barrier.ts';

export interface WholeWorldsOptions {
  readonly barrier: Pick<CommitBarrier, 'isHalf' | 'onWhole'>;
  /** Grows with every change of what worlds are made of. */
  readonly revision: () => number;
  readonly lookAgain: (placement: string) => void;
  readonly decideAgain: (placement: string) => void;
}

/** Which worlds show the hub at one commit, and which placements wait because theirs shows it between two. */
export class WholeWorlds {
  readonly #options: WholeWorldsOptions;
  readonly #whole = new WeakSet<World>();
  readonly #revisionOf = new WeakMap<World, number>();
  readonly #waiting = new Set<string>();

  constructor(options: WholeWorldsOptions) {
    this.#options = options;
    options.barrier.onWhole(() => {
      for (const key of this.#waiting) options.lookAgain(key);
      this.#waiting.clear();
    });
  }

  made(world: World): World {
    if (this.#options.barrier.isHalf) this.#revisionOf.set(world, this.#options.revision());
    else this.#whole.add(world);
    return world;
  }

  /**
   * May what was decided of this world be published? If not, the placement is looked at again when it may be worth it.
   * @param key `namespace/name` of the placement
   */
  isWhole(key: string, world: World | undefined): boolean {
    if (world === undefined || this.#whole.has(world)) return true;
    const { barrier, revision, decideAgain } = this.#options;
    if (barrier.isHalf) {
      this.#waiting.add(key);
      return false;
    }
    // The commit was all there, and only the last answer was missing.
    if (this.#revisionOf.get(world) === revision()) {
      this.#whole.add(world);
      return true;
    }
    decideAgain(key);
    return false;
  }
}
