import type { Placement } from '@berth/ocm/kind/placement';

/**
 * The annotation that gives the taint effect PreferNoSelect a meaning. OCM declares the effect and
 * ignores it. If the annotation is exactly "tie-break", clusters with equal totals are ordered:
 * those without an untolerated PreferNoSelect taint come first.
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
