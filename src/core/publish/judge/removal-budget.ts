/** How many clusters or objects one change may remove: the larger of the two numbers. */
export interface RemovalBudget {
  /**
   * Percentage of the clusters published before the change. The resulting number is rounded down.
   */
  readonly percent: number;
  readonly atLeast: number;
}

export const DEFAULT_REMOVAL_BUDGET: RemovalBudget = { percent: 25, atLeast: 2 };

/**
 * Parses a percentage such as `25%`, or a plain number of clusters. A percentage keeps the
 * `atLeast` of the default budget. Undefined for any other text.
 */
export function parseRemovalBudget(text: string): RemovalBudget | undefined {
  const match = /^(\d{1,7})(%?)$/.exec(text.trim());
  if (match === null) return undefined;
  const value = Number(match[1]);
  if (match[2] === '') return { percent: 0, atLeast: value };
  return value <= 100 ? { percent: value, atLeast: DEFAULT_REMOVAL_BUDGET.atLeast } : undefined;
}

/** How many of `published` may be removed. */
export function removalLimit(budget: RemovalBudget, published: number): number {
  return Math.max(budget.atLeast, Math.floor((published * budget.percent) / 100));
}

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
