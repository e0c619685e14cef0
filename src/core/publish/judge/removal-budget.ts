/** How much one change may remove: the larger of the two numbers counts. */
export interface RemovalBudget {
  /** Of the clusters published before, rounded down. */
  readonly percent: number;
  readonly atLeast: number;
}

export const DEFAULT_REMOVAL_BUDGET: RemovalBudget = { percent: 25, atLeast: 2 };

/** `25%` (and still the default's at least 2), or a plain number of clusters. Undefined when it is neither. */
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
