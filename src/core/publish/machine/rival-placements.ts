import type { PlacementState } from './state/placement-state.ts';
import { recentRivalRounds, RIVAL_ROUNDS } from './state/rival-rounds.ts';

/** Placements whose pages another writer keeps changing, sorted by name. */
export function rivalPlacements(
  states: Iterable<readonly [string, PlacementState]>,
  nowMs: number,
): readonly string[] {
  const rivals: string[] = [];
  for (const [key, state] of states)
    if (recentRivalRounds(state, nowMs).length >= RIVAL_ROUNDS) rivals.push(key);
  return rivals.sort();
}
