import type { PassEnd, PlacementAction } from '../state/placement-action.ts';
import type { PlacementState } from '../state/placement-state.ts';
import { noteRivalWrite } from '../state/rival-rounds.ts';
import type { PassingState, StepResult } from '../state/step-result.ts';

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
