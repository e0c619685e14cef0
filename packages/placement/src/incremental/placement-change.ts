import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import type { Placement } from '@berth/ocm/kind/placement';
import { missingScoresOf } from '../prioritize/missing-scores.ts';
import { PREFER_NO_SELECT_ANNOTATION } from '../select/prefer-no-select.ts';

/**
 * What changed for scheduling: `none` (for example a new status), `limit` (only the number of
 * clusters), or `other`.
 */
export function placementChange(before: Placement, after: Placement): 'none' | 'limit' | 'other' {
  if (!sameSpec(before.spec, after.spec) || readRest(before) !== readRest(after)) return 'other';
  return before.spec?.numberOfClusters === after.spec?.numberOfClusters ? 'none' : 'limit';
}

type Spec = Placement['spec'];

/**
 * Compares two specs without the number of clusters. Fields that are the same object are not
 * converted to JSON.
 */
function sameSpec(before: Spec = {}, after: Spec = {}): boolean {
  if (before === after) return true;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof typeof before>) {
    if (name === 'numberOfClusters' || before[name] === after[name]) continue;
    if (JSON.stringify(before[name]) !== JSON.stringify(after[name])) return false;
  }
  return true;
}

function readRest(placement: Placement): string {
  const { metadata } = placement;
  const { annotations = {} } = metadata;
  const own = (key: string): string | undefined =>
    Object.hasOwn(annotations, key) ? annotations[key] : undefined;
  return [
    metadata.deletionTimestamp !== undefined,
    own(SCHEDULING_DISABLE_ANNOTATION) === 'true',
    own(PREFER_NO_SELECT_ANNOTATION) === 'tie-break',
    missingScoresOf(placement),
  ].join(' ');
}
