import { RIVAL_WRITES } from './pass/end-pass.ts';
import type { PlacementState } from './state/placement-state.ts';

const RIVAL_WINDOW_MS = 600_000;

/** Placements whose pages others keep changing, in the order of names: so many changes within ten minutes are no accident. */
export function rivalPlacements(
  states: Iterable<readonly [string, PlacementState]>,
  nowMs: number,
): readonly string[] {
  const rivals: string[] = [];
  for (const [key, { rivalWritesAtMs }] of states) {
    const recent = rivalWritesAtMs.filter((atMs) => atMs > nowMs - RIVAL_WINDOW_MS);
    if (recent.length >= RIVAL_WRITES) rivals.push(key);
  }
  return rivals.sort();
}
