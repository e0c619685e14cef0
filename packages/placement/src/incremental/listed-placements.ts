import { type Placement, SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import type { DecidedState } from '../decide/decided-state.ts';
import { type CompiledPlacement, limitOf, placementKey } from '../index/scheduling-index.ts';
import { missingScoresOf } from '../prioritize/missing-scores.ts';
import { PREFER_NO_SELECT_ANNOTATION } from '../select/rank.ts';
import { isCountUnchanged } from './keep-selection.ts';
import { PlacementDependents } from './impact.ts';

interface Listed {
  readonly compiled: CompiledPlacement;
  readonly state: DecidedState | undefined;
}

/**
 * The placements of an engine, each with its last decision. Undefined means that the placement must
 * be scheduled. The first snapshot may list a key twice. Then the key denotes the last one.
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

  /** The decisions by position. The list is as long as the list of placements. */
  get states(): readonly (DecidedState | undefined)[] {
    return this.#states;
  }

  /** What each placement reads, by position. */
  get dependents(): PlacementDependents {
    this.#dependents ??= new PlacementDependents(this.#compiled);
    return this.#dependents;
  }

  /** @param key `namespace/name` */
  positionOf(key: string): number | undefined {
    return this.#positions.get(key);
  }

  /**
   * The position of a listed placement. The probable position is checked first, because making and
   * looking up a key takes longer.
   */
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

  /** Drops the decision at a position, so that the placement must be scheduled. */
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
   * Adds or replaces placements. New placements come last. A placement whose inputs changed is
   * compiled again and loses its decision. If only the requested number of clusters changed, the
   * decision stays and is updated later.
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
    const isResultOf = change === 'none' && isCountUnchanged(state);
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

/**
 * What changed for scheduling: `none` (for example a new status), `limit` (only the number of
 * clusters), or `other`.
 */
export function placementChange(before: Placement, after: Placement): 'none' | 'limit' | 'other' {
  if (!sameSpec(before.spec, after.spec) || readRest(before) !== readRest(after)) return 'other';
  return before.spec?.numberOfClusters === after.spec?.numberOfClusters ? 'none' : 'limit';
}

type Spec = Placement['spec'];

/**
 * Compares two specs without the number of clusters. Fields that are the same object are not
 * converted to JSON.
 */
function sameSpec(before: Spec = {}, after: Spec = {}): boolean {
  if (before === after) return true;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof typeof before>) {
    if (name === 'numberOfClusters' || before[name] === after[name]) continue;
    if (JSON.stringify(before[name]) !== JSON.stringify(after[name])) return false;
  }
  return true;
}

function readRest(placement: Placement): string {
  const { metadata } = placement;
  const { annotations = {} } = metadata;
  const own = (key: string): string | undefined =>
    Object.hasOwn(annotations, key) ? annotations[key] : undefined;
  return [
    metadata.deletionTimestamp !== undefined,
    own(SCHEDULING_DISABLE_ANNOTATION) === 'true',
    own(PREFER_NO_SELECT_ANNOTATION) === 'tie-break',
    missingScoresOf(placement),
  ].join(' ');
}
