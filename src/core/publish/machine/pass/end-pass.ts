import type { PassEnd, PlacementAction } from '../state/placement-action.ts';
import type { PlacementState, Pass, PassStage } from '../state/placement-state.ts';
import { noteRivalWrite } from '../state/rival-rounds.ts';

export const DONE: PassEnd = { kind: 'done' };

/**
 * Ends the pass. All writes have responses now, so the watch events that arrived during the pass
 * can be attributed and are handled.
 */
export function endPass(
  { pass, ...rest }: PassingState,
  end: PassEnd,
  actions: readonly PlacementAction[] = [],
): StepResult {
  const state: PlacementState = { ...rest, pass: undefined };
  const last: PlacementAction = { kind: 'end', end };
  if (pass.early.length === 0) return { state, actions: [...actions, last] };
  const made = new Set(pass.made);
  const foreign = pass.early.filter(({ change }) => !made.has(change));
  return {
    state: foreign.reduce(noteRivalWrite, state),
    actions: [
      ...actions,
      ...foreign.slice(0, 1).map((): PlacementAction => ({ kind: 'decide-again', cause: 'decisions' })),
      last,
    ],
  };
}

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

/** A time in RFC 3339 with whole seconds, as in conditions. */
export function statusTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
