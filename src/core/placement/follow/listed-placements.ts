import type { Placement } from '../../model/kind/placement.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import { PlacementDependents } from './placement-dependents.ts';
import { placementChange } from './placement-change.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';
import { limitOf, placementKey } from '../index/scheduling-index.ts';
import { isDecidedAsAsked } from './keep-selection.ts';

interface Listed {
  readonly compiled: CompiledPlacement;
  readonly state: DecidedState | undefined;
}

/**
 * The placements of an engine, each with what was last decided for it; undefined: it has to be scheduled. A key may be listed twice when the first snapshot did so; then it denotes the last one.
 */
export class ListedPlacements {
  #compiled: CompiledPlacement[];
  #states: (DecidedState | undefined)[];
  #positions: ReadonlyMap<string, number>;
  #dependents: PlacementDependents | undefined;

  constructor(compiled: readonly CompiledPlacement[]) {
    this.#compiled = [...compiled];
    this.#states = compiled.map(() => undefined);
    this.#positions = positionsOf(compiled);
  }

  get compiled(): readonly CompiledPlacement[] {
    return this.#compiled;
  }

  /** By position, as long as the list of placements. */
  get states(): readonly (DecidedState | undefined)[] {
    return this.#states;
  }

  /** Which of them read what, by position. */
  get dependents(): PlacementDependents {
    this.#dependents ??= new PlacementDependents(this.#compiled);
    return this.#dependents;
  }

  /** @param key `namespace/name` */
  positionOf(key: string): number | undefined {
    return this.#positions.get(key);
  }

  /** Of one that is listed, probably there: making its key and looking that up takes longer than looking. */
  positionNear(probable: number, placement: Placement): number {
    if (this.#compiled[probable]?.placement === placement) return probable;
    return this.#positions.get(placementKey(placement)) as number;
  }

  stateOf(key: string): DecidedState | undefined {
    const position = this.#positions.get(key);
    return position === undefined ? undefined : this.#states[position];
  }

  keep(position: number, state: DecidedState): void {
    this.#states[position] = state;
  }

  /** It has to be scheduled, whatever was decided for it. */
  forget(position: number): void {
    this.#states[position] = undefined;
  }

  remove(keys: ReadonlySet<string>): void {
    const states = this.#states.filter((_, position) => !keys.has(this.#compiled[position]?.key ?? ''));
    this.#list(
      this.#compiled.filter(({ key }) => !keys.has(key)),
      states,
    );
  }

  /**
   * New ones come last. One that reads differently than before is compiled again and has no state any more; where it asks for another
   * number of clusters and nothing else, the state stays to be brought up to date.
   */
  put(fresh: readonly Placement[], compile: (placement: Placement) => CompiledPlacement): void {
    const count = this.#compiled.length;
    for (const placement of fresh) this.#put(placement, compile);
    if (this.#compiled.length > count) this.#list(this.#compiled, this.#states);
  }

  /** Compiles each placement again, in place. */
  replaceAll(
    replace: (placement: Placement, position: number, state: DecidedState | undefined) => Listed,
  ): void {
    const all = this.#compiled.map(({ placement }, position) =>
      replace(placement, position, this.#states[position]),
    );
    this.#list(
      all.map(({ compiled }) => compiled),
      all.map(({ state }) => state),
    );
  }

  #put(placement: Placement, compile: (placement: Placement) => CompiledPlacement): void {
    const position = this.#positions.get(placementKey(placement)) ?? -1;
    const before = this.#compiled[position];
    if (before === undefined) {
      this.#compiled.push(compile(placement));
      this.#states.push(undefined);
      return;
    }
    const change = placementChange(before.placement, placement);
    if (change === 'other') {
      const compiled = compile(placement);
      this.#compiled[position] = compiled;
      this.#dependents?.replace(position, before, compiled);
      this.#states[position] = undefined;
      return;
    }
    const compiled = { ...before, placement, limit: limitOf(placement) };
    this.#compiled[position] = compiled;
    const state = this.#states[position];
    if (state === undefined) return;
    const isResultOf = change === 'none' && isDecidedAsAsked(state);
    const result = isResultOf ? { ...state.result, placement } : state.result;
    this.#states[position] = { ...state, compiled, result };
  }

  #list(compiled: CompiledPlacement[], states: (DecidedState | undefined)[]): void {
    this.#compiled = compiled;
    this.#states = states;
    this.#positions = positionsOf(compiled);
    this.#dependents = undefined;
  }
}

function positionsOf(compiled: readonly CompiledPlacement[]): ReadonlyMap<string, number> {
  return new Map(compiled.map(({ key }, position) => [key, position]));
}
