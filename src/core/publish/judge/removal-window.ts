/** One earlier removal from a placement. */
export interface Removal {
  readonly atMs: number;
  readonly count: number;
}

/** The ConfigMap in Berth's namespace that has them, where they are stored on the hub. */
export const REMOVALS_CONFIG_MAP = 'berth-pull-removals';

/** Recent removals by group. They must survive a restart and a change of leader. */
export interface RemovalMemory {
  read(group: string): Promise<readonly Removal[]>;
  /** Resolves when the removals are stored. Nothing is removed before. */
  persist(group: string, removals: readonly Removal[]): Promise<void>;
}

/**
 * Removals within this time count as one change, so that a drain of one cluster after the other
 * counts as one drain.
 */
export const REMOVAL_WINDOW_MS = 600_000;

/**
 * The removals within the window before `nowMs`, plus removals in the future, which exist if the
 * clock was set back.
 */
export function recentRemovals(removals: readonly Removal[], nowMs: number): readonly Removal[] {
  return removals.filter((removal) => nowMs - removal.atMs < REMOVAL_WINDOW_MS);
}

export function removedRecently(removals: readonly Removal[], nowMs: number): number {
  return recentRemovals(removals, nowMs).reduce((sum, removal) => sum + removal.count, 0);
}
