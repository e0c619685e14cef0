import { SCHEDULING_DISABLE_ANNOTATION } from '../../model/kind/placement.ts';
import type { Placement } from '../../model/kind/placement.ts';
import { missingScoresOf } from '../prioritize/missing-scores.ts';
import { PREFER_NO_SELECT_ANNOTATION } from '../select/prefer-no-select.ts';

/** What scheduling reads differently in a placement: nothing (a new status alone is no reason), the number of clusters alone, or more. */
export function placementChange(before: Placement, after: Placement): 'none' | 'limit' | 'other' {
  if (readRest(before) !== readRest(after)) return 'other';
  return before.spec?.numberOfClusters === after.spec?.numberOfClusters ? 'none' : 'limit';
}

function readRest(placement: Placement): string {
  const { metadata, spec } = placement;
  const { annotations = {} } = metadata;
  const own = (key: string): string | undefined =>
    Object.hasOwn(annotations, key) ? annotations[key] : undefined;
  return JSON.stringify([
    { ...spec, numberOfClusters: undefined },
    metadata.deletionTimestamp !== undefined,
    own(SCHEDULING_DISABLE_ANNOTATION) === 'true',
    own(PREFER_NO_SELECT_ANNOTATION) === 'tie-break',
    missingScoresOf(placement),
  ]);
}
