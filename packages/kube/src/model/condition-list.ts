import type { Condition } from './object-meta.ts';

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * The list with one condition replaced in its place, or added at the end. The transition time changes only if the
 * status changes.
 * @param now RFC 3339, seconds.
 */
export function setCondition(
  conditions: readonly Condition[],
  condition: Condition,
  now: string,
): readonly Condition[] {
  const before = findCondition(conditions, condition.type);
  const lastTransitionTime =
    condition.lastTransitionTime ??
    (before?.status === condition.status ? before.lastTransitionTime : now) ??
    now;
  const next = { ...condition, lastTransitionTime };
  if (before === undefined) return [...conditions, next];
  return conditions.map((other) => (other === before ? next : other));
}
