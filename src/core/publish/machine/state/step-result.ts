import type { PassEnd, PlacementAction } from './placement-action.ts';
import type { Pass, PlacementState, PassStage } from './placement-state.ts';

/** The state after an event, and the actions to apply. */
export interface StepResult {
  readonly state: PlacementState;
  readonly actions: readonly PlacementAction[];
}

/** A state in which a pass is under way. */
export type PassingState = PlacementState & { readonly pass: Pass };

export function withStage(state: PassingState, stage: PassStage): PassingState {
  return { ...state, pass: { ...state.pass, stage } };
}

/** The step with these actions before its own. */
export function prependActions(
  actions: readonly PlacementAction[],
  { state, actions: next }: StepResult,
): StepResult {
  return actions.length === 0 ? { state, actions: next } : { state, actions: [...actions, ...next] };
}

export const DONE: PassEnd = { kind: 'done' };
