import type { Placement } from '@berth/ocm/kind/placement';

/**
 * Whether the decision depends on AddOnPlacementScores, through a prioritizer or a CEL expression
 * that calls `scores`.
 */
export function usesAddOnScores({ spec }: Placement): boolean {
  const configurations = spec?.prioritizerPolicy?.configurations ?? [];
  if (configurations.some(({ scoreCoordinate }) => scoreCoordinate?.type === 'AddOn')) return true;
  const expressions = (spec?.predicates ?? []).flatMap(
    ({ requiredClusterSelector }) => requiredClusterSelector?.celSelector?.celExpressions ?? [],
  );
  return expressions.some((expression) => /\bscores\s*\(/.test(expression));
}
