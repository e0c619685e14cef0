import { isWatchBehind } from './state/own-writes.ts';
import type { PlacementAction, PlacementEvent } from './state/placement-event.ts';
import { INITIAL_STATE, type PlacementState } from './state/placement-state.ts';
import { step } from './step.ts';

/**
 * The state of each placement, by `namespace/name`. It also knows which placements must get an
 * event that concerns many placements.
 */
export class PlacementStates {
  readonly #states = new Map<string, PlacementState>();
  /** Placements for which the watch has not shown the last page write. */
  readonly #behind = new Set<string>();
  readonly #handingOver = new Set<string>();
  readonly #waitingForCommit = new Set<string>();
  readonly #whenShown = new Set<() => void>();

  of(key: string): PlacementState {
    return this.#states.get(key) ?? INITIAL_STATE;
  }

  entries(): Iterable<readonly [string, PlacementState]> {
    return this.#states.entries();
  }

  keys(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** Placements with a handover that waits for works. */
  get handingOver(): readonly string[] {
    return [...this.#handingOver];
  }

  /** Placements with a page write that the watch does not show. */
  get behind(): readonly string[] {
    return [...this.#behind];
  }

  get waitingForCommit(): readonly string[] {
    return [...this.#waitingForCommit];
  }

  /** @returns the actions */
  step(key: string, event: PlacementEvent, nowMs: number): readonly PlacementAction[] {
    const before = this.of(key);
    const { state, actions } = step(before, event, nowMs);
    if (state === before) return actions;
    this.#states.set(key, state);
    putKey(this.#handingOver, key, state.remembered?.move !== undefined);
    putKey(this.#waitingForCommit, key, state.waitsForCommit);
    if (state.pages !== before.pages) this.#noteBehind(key, state);
    return actions;
  }

  /** Resolves when the watch has shown all pages that were written. */
  whenShown(): Promise<void> {
    return this.#behind.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#whenShown.add(resolve));
  }

  #noteBehind(key: string, { pages }: PlacementState): void {
    let isAnyBehind = false;
    for (const write of pages.values()) isAnyBehind ||= isWatchBehind(write);
    putKey(this.#behind, key, isAnyBehind);
    if (this.#behind.size > 0) return;
    for (const resolve of this.#whenShown) resolve();
    this.#whenShown.clear();
  }
}

function putKey(set: Set<string>, key: string, is: boolean): void {
  if (is) set.add(key);
  else set.delete(key);
}
