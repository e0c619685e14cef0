import type { UnattributedChange, PlacementState } from './placement-state.ts';

/** Berth restores its pages this often. Then it leaves them to the other writer. */
export const RIVAL_ROUNDS = 3;
/** How long a round counts. Three rounds within this time are not an accident. */
const ROUND_COUNTS_MS = 600_000;

/**
 * When the rounds of changes by others that still count began, oldest first, in milliseconds since
 * the epoch. The clock may have been set back, so a round may be in the future.
 */
export function recentRivalRounds(
  { rivalRoundsAtMs }: Pick<PlacementState, 'rivalRoundsAtMs'>,
  nowMs: number,
): readonly number[] {
  return rivalRoundsAtMs.filter((atMs) => Math.abs(nowMs - atMs) < ROUND_COUNTS_MS);
}

/** Milliseconds until the round no longer counts. */
export function untilForgotten(roundAtMs: number, nowMs: number): number {
  return Math.max(1, ROUND_COUNTS_MS - Math.abs(nowMs - roundAtMs));
}

/**
 * Notes that another writer changed a page, if this process is the leader and the placement exists.
 * All changes until Berth writes a page again are one round, so a person who deletes five pages
 * does not count as a rival. While a write has an unknown outcome, a change may be that write and
 * does not count.
 */
export function noteRivalWrite(state: PlacementState, { rivalAtMs }: UnattributedChange): PlacementState {
  if (rivalAtMs === undefined || !state.wroteSinceRival || state.isUncertain) return state;
  const recent = recentRivalRounds(state, rivalAtMs);
  const rivalRoundsAtMs = [...recent, rivalAtMs].slice(-RIVAL_ROUNDS - 1);
  return {
    ...state,
    rivalRoundsAtMs,
    wroteSinceRival: false,
    wasAnnotated: state.wasAnnotated && recent.length > 0,
  };
}
