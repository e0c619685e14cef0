import type { PassEnd, PlacementAction } from './placement-action.ts';
import type { Pass, PlacementState, Stage } from './placement-state.ts';

/** The state after an event, and the actions to apply. */
export interface Step {
  readonly state: PlacementState;
  readonly actions: readonly PlacementAction[];
}

/** A state in which a pass is under way. */
export type PassingState = PlacementState & { readonly pass: Pass };

export function atStage(state: PassingState, stage: Stage): PassingState {
  return { ...state, pass: { ...state.pass, stage } };
}

/** The step, after other actions. */
export function after(actions: readonly PlacementAction[], { state, actions: next }: Step): Step {
  return actions.length === 0 ? { state, actions: next } : { state, actions: [...actions, ...next] };
}

export const DONE: PassEnd = { kind: 'done' };
