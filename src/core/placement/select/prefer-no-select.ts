import type { Placement } from '../../model/kind/placement.ts';

/**
 * OCM declares the taint effect PreferNoSelect and gives it no meaning. A placement with this annotation set to exactly
 * "tie-break" gives it one: of clusters with equal totals, those without an untolerated PreferNoSelect taint come first.
 */
export const PREFER_NO_SELECT_ANNOTATION = 'berth.dev/prefer-no-select';

/** Whether the annotation of the placement is exactly `tie-break`. */
export function breaksTiesByPreferNoSelect({ metadata: { annotations } }: Placement): boolean {
  return (
    annotations !== undefined &&
    Object.hasOwn(annotations, PREFER_NO_SELECT_ANNOTATION) &&
    annotations[PREFER_NO_SELECT_ANNOTATION] === 'tie-break'
  );
}
