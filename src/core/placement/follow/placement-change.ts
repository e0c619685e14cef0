import { SCHEDULING_DISABLE_ANNOTATION } from '../../model/kind/placement.ts';
import type { Placement } from '../../model/kind/placement.ts';
import { PREFER_NO_SELECT_ANNOTATION } from '../select/prefer-no-select.ts';

/** Whether two states of a placement differ in something that scheduling reads; a new status alone is no reason. */
export function changesScheduling(before: Placement, after: Placement): boolean {
  return readPart(before) !== readPart(after);
}

function readPart({ metadata, spec }: Placement): string {
  const { annotations = {} } = metadata;
  const own = (key: string): string | undefined =>
    Object.hasOwn(annotations, key) ? annotations[key] : undefined;
  return JSON.stringify([
    spec,
    metadata.deletionTimestamp !== undefined,
    own(SCHEDULING_DISABLE_ANNOTATION) === 'true',
    own(PREFER_NO_SELECT_ANNOTATION) === 'tie-break',
  ]);
}
