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
