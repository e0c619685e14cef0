import type { UnattributedChange, PlacementState } from './placement-state.ts';

/** Berth restores its pages so many times; then it leaves them to the other writer. */
export const RIVAL_ROUNDS = 3;
/** How long a round counts. Three rounds within ten minutes are no accident. */
const RIVAL_WINDOW_MS = 600_000;

/**
 * When rounds of changes by others began within the window, oldest first. Milliseconds since the epoch. The clock may
 * have been set back meanwhile.
 */
export function recentRivalRounds(
  { rivalRoundsAtMs }: Pick<PlacementState, 'rivalRoundsAtMs'>,
  nowMs: number,
): readonly number[] {
  return rivalRoundsAtMs.filter((atMs) => Math.abs(nowMs - atMs) < RIVAL_WINDOW_MS);
}

/** Milliseconds until the round no longer counts. */
export function untilForgotten(roundAtMs: number, nowMs: number): number {
  return Math.max(1, RIVAL_WINDOW_MS - Math.abs(nowMs - roundAtMs));
}

/**
 * Records that another writer changed a page, if this process leads and the placement exists. All
 * changes before Berth writes a page again are one round, so a person who deletes five pages does
 * not count as a rival. While the response to a write is missing, a change may be that write.
 */
export function noteRivalWrite(state: PlacementState, { rivalAtMs }: UnattributedChange): PlacementState {
  if (rivalAtMs === undefined || !state.wroteSinceRival || state.isUncertain) return state;
  const recent = recentRivalRounds(state, rivalAtMs);
  const rivalRoundsAtMs = [...recent, rivalAtMs].slice(-RIVAL_ROUNDS - 1);
  return {
    ...state,
    rivalRoundsAtMs,
    wroteSinceRival: false,
    wasMarked: state.wasMarked && recent.length > 0,
  };
}
