import { hasReachedVersion } from '../../model/resource-version.ts';
import { rememberAfterChange } from './before-restore.ts';
import { noteRivalWrite } from './state/rival-rounds.ts';
import { changeKey, isOwnWrite, isWatchBehind, afterShown } from './state/own-writes.ts';
import type { PlacementEvent } from './state/placement-event.ts';
import type { UnattributedChange, PlacementState } from './state/placement-state.ts';
import type { StepResult } from './state/step-result.ts';
import { setPage } from './pass/write-pages.ts';

/**
 * Limit of the changes that a pass keeps until its writes have responses. A pass writes a few hundred
 * pages at most, so changes beyond the limit come from others.
 */
const MAX_EARLY = 1_000;

/**
 * The watch showed a change of a page. Berth expects its own writes. A write by others requires a
 * new decision.
 */
export function onPageChanged(
  before: PlacementState,
  event: Extract<PlacementEvent, { kind: 'page-changed' }>,
  nowMs: number,
): StepResult {
  const { change, isLeader, isPlacementThere } = event;
  const name = (change.after ?? change.before)?.metadata.name ?? '';
  const write = afterShown(before.pages.get(name), change.after);
  const pages = setPage(before.pages, name, write);
  const beforeRestore = rememberAfterChange(before.beforeRestore, change);
  const isSame = pages === before.pages && beforeRestore === before.beforeRestore;
  const state = isSame ? before : { ...before, pages, beforeRestore };
  if (isOwnWrite(write, change.after)) return { state, actions: [] };
  // The hub deletes the pages of a deleted placement. That is no rival.
  const isRival = isLeader && isPlacementThere;
  return noteChange(state, { change: changeKey(name, change), rivalAtMs: isRival ? nowMs : undefined });
}

/**
 * The pages were listed again. A page that this process created and that the list does not have was
 * deleted by others while the watch was interrupted, so the watch never shows it.
 */
export function onPagesListed(
  before: PlacementState,
  event: Extract<PlacementEvent, { kind: 'pages-listed' }>,
  nowMs: number,
): StepResult {
  const { hubVersion, isLeader, isPlacementThere } = event;
  const lost = [...before.pages].filter(
    ([, write]) =>
      write.after !== undefined && isWatchBehind(write) && hasReachedVersion(hubVersion, write.version),
  );
  if (lost.length === 0) return { state: before, actions: [] };
  const pages = new Map(before.pages);
  for (const [name] of lost) pages.delete(name);
  const rivalAtMs = isLeader && isPlacementThere ? nowMs : undefined;
  const change = lost
    .map(([name, write]) => changeKey(name, { before: write.after, after: undefined }))
    .join();
  return noteChange({ ...before, pages }, { change, rivalAtMs });
}

/** The watch showed a change of the placement itself. */
export function onPlacementChanged(
  before: PlacementState,
  { change, isInput }: Extract<PlacementEvent, { kind: 'placement-changed' }>,
): StepResult {
  const status = afterShown(before.status, change.after);
  const shown = status === before.status ? before : { ...before, status };
  const state = change.after === undefined ? { ...shown, rivalRoundsAtMs: [] } : shown;
  if (isOwnWrite(status, change.after)) return { state, actions: [] };
  if (isInput()) return { state, actions: [{ kind: 'decide-again', cause: 'inputs' }] };
  return noteChange(state, { change: changeKey('', change), rivalAtMs: undefined });
}

/**
 * Handles a change that may come from others. A pass in progress cannot tell yet whether the change
 * is its own, so the pass keeps it until its writes have responses.
 */
function noteChange(state: PlacementState, change: UnattributedChange): StepResult {
  const { pass } = state;
  if (pass === undefined || pass.early.length >= MAX_EARLY)
    return { state: noteRivalWrite(state, change), actions: [{ kind: 'decide-again', cause: 'decisions' }] };
  return { state: { ...state, pass: { ...pass, early: [...pass.early, change] } }, actions: [] };
}
