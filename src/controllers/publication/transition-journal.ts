import type { Logger } from '../../core/ports.ts';
import type { World } from '../../core/snapshot/world.ts';
import type { Transition } from '../../core/transition/transition.ts';
import { movesOf, type PlacementMove, worldBefore } from '../../core/transition/unfinished-transition.ts';
import { onAbort } from '../../runtime/on-abort.ts';

/** Where the moves of the last transition are kept. */
export interface TransitionMemory {
  get(key: string): readonly PlacementMove[] | undefined;
  /** Resolves when it would outlive the process. */
  persist(key: string, moves: readonly PlacementMove[]): Promise<void>;
  delete(key: string): void;
}

const LAST = 'last';

/**
 * Lets a transition that was cut short start again where it started, and so end where it would have ended. What it is about to publish
 * is kept before the first write; the first transition of the next process that publishes starts from the pages as they were before.
 */
export class TransitionJournal {
  readonly #memory: TransitionMemory;
  readonly #log: Logger;
  /** Of the process before this one. */
  #unfinished: readonly PlacementMove[] | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(memory: TransitionMemory, log: Logger) {
    this.#memory = memory;
    this.#log = log;
    const moves = memory.get(LAST) ?? [];
    this.#unfinished = moves.length === 0 ? undefined : moves;
  }

  /** Nothing may be published before a transition that started from `worldToStart`. */
  get isUnfinished(): boolean {
    return this.#unfinished !== undefined;
  }

  /** Resolves when nothing is unfinished any more, or when aborted. */
  whenResumed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.#unfinished === undefined) return resolve();
      this.#waiting.add(resolve);
      onAbort(signal, resolve);
    });
  }

  /** Where the next transition starts. @param world as the hub is now */
  worldToStart(world: World): World {
    return this.#unfinished === undefined ? world : worldBefore(world, this.#unfinished);
  }

  /** A transition ended, and what it moved is about to be published. Resolves when that is kept. */
  async begin(transition: Pick<Transition, 'moved'>): Promise<void> {
    const isAtRest = transition.moved.size === 0;
    if (!isAtRest || (this.#memory.get(LAST) ?? []).length > 0) {
      const kept = this.#keep(movesOf(transition));
      if (!isAtRest) await kept;
    }
    this.#finish();
  }

  /** Another process published since, or the hub is another one. */
  forget(): void {
    this.#memory.delete(LAST);
    this.#finish();
  }

  #keep(moves: readonly PlacementMove[]): Promise<void> {
    return this.#memory.persist(LAST, moves).catch((error: unknown) =>
      // As with removals: a full disk costs memory, never a decision.
      this.#log.error('a transition that is cut short may end elsewhere', { error }),
    );
  }

  #finish(): void {
    this.#unfinished = undefined;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
