import { keptAfterChange } from './before-restore.ts';
import { noted } from './pass/end-pass.ts';
import { changeName, isOwn, whenShown } from './state/own-writes.ts';
import type { PlacementEvent } from './state/placement-event.ts';
import type { EarlyChange, PlacementState } from './state/placement-state.ts';
import type { Step } from './state/step-result.ts';
import { withPage } from './pass/write-pages.ts';

/** One pass writes a few hundred pages at most. Changes beyond these are not its own. */
const MAX_EARLY = 1_000;

/**
 * The watch showed a change of a page. Our own writes are expected; a write by others is a reason to decide again.
 */
export function pageChanged(
  before: PlacementState,
  event: Extract<PlacementEvent, { kind: 'page-changed' }>,
  nowMs: number,
): Step {
  const { change, isLeader, isPlacementThere } = event;
  const name = (change.after ?? change.before)?.metadata.name ?? '';
  const write = whenShown(before.pages.get(name), change.after);
  const pages = withPage(before.pages, name, write);
  const beforeRestore = isLeader ? before.beforeRestore : keptAfterChange(before.beforeRestore, change);
  const isSame = pages === before.pages && beforeRestore === before.beforeRestore;
  const state = isSame ? before : { ...before, pages, beforeRestore };
  if (isOwn(write, change.after)) return { state, actions: [] };
  // A page that is created takes nothing from what is published; those of a placement that is gone go after it.
  const isRival = change.before !== undefined && isLeader && isPlacementThere;
  return news(state, { change: changeName(name, change), rivalAtMs: isRival ? nowMs : undefined });
}

/** The watch showed a change of the placement itself. */
export function placementChanged(
  before: PlacementState,
  { change, isInput }: Extract<PlacementEvent, { kind: 'placement-changed' }>,
): Step {
  const status = whenShown(before.status, change.after);
  const shown = status === before.status ? before : { ...before, status };
  const state = change.after === undefined ? { ...shown, rivalWritesAtMs: [] } : shown;
  if (isOwn(status, change.after)) return { state, actions: [] };
  if (isInput()) return { state, actions: [{ kind: 'decide-again', cause: 'inputs' }] };
  return news(state, { change: changeName('', change), rivalAtMs: undefined });
}

/** During a pass it is not known yet whether the change is its own. */
function news(state: PlacementState, change: EarlyChange): Step {
  const { pass } = state;
  if (pass === undefined || pass.early.length >= MAX_EARLY)
    return { state: noted(state, change), actions: [{ kind: 'decide-again', cause: 'decisions' }] };
  return { state: { ...state, pass: { ...pass, early: [...pass.early, change] } }, actions: [] };
}
