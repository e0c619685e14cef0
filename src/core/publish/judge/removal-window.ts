/** One earlier removal from a placement. */
export interface Removal {
  readonly atMs: number;
  readonly count: number;
}

/** Removals this close to each other count as one change: a drain that arrives cluster by cluster is still a drain. */
export const REMOVAL_WINDOW_MS = 600_000;

/**
 * Removals within the window before `nowMs`, and those in the future, which exist if the clock was
 * set back.
 */
export function recentRemovals(removals: readonly Removal[], nowMs: number): readonly Removal[] {
  return removals.filter((removal) => nowMs - removal.atMs < REMOVAL_WINDOW_MS);
}

export function removedRecently(removals: readonly Removal[], nowMs: number): number {
  return recentRemovals(removals, nowMs).reduce((sum, removal) => sum + removal.count, 0);
}
