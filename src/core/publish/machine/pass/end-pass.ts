import type { PassEnd, PlacementAction } from '../state/placement-action.ts';
import type { EarlyChange, PlacementState } from '../state/placement-state.ts';
import type { PassingState, Step } from '../state/step-result.ts';

/** How many writes by others are stored: see `rivalPlacements`. */
export const RIVAL_WRITES = 3;

/** Ends the pass. Watch events that arrived meanwhile are processed now, because all writes are answered. */
export function endPass(
  { pass, ...rest }: PassingState,
  end: PassEnd,
  actions: readonly PlacementAction[] = [],
): Step {
  const state: PlacementState = { ...rest, pass: undefined };
  const last: PlacementAction = { kind: 'end', end };
  if (pass.early.length === 0) return { state, actions: [...actions, last] };
  const made = new Set(pass.made);
  const foreign = pass.early.filter(({ change }) => !made.has(change));
  return {
    state: foreign.reduce(noted, state),
    actions: [
      ...actions,
      ...foreign.slice(0, 1).map((): PlacementAction => ({ kind: 'decide-again', cause: 'decisions' })),
      last,
    ],
  };
}

/** Remembers that others changed a page, where this process led and the placement was there. */
export function noted(state: PlacementState, { rivalAtMs }: EarlyChange): PlacementState {
  if (rivalAtMs === undefined) return state;
  return { ...state, rivalWritesAtMs: [...state.rivalWritesAtMs, rivalAtMs].slice(-RIVAL_WRITES) };
}
