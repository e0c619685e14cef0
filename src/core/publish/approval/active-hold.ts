import type { Condition } from '../../model/object-meta.ts';
import type { Placement } from '../../model/kind/placement.ts';
import { HELD_CONDITION } from './publish-annotations.ts';

/** The condition of a placement whose new result is held; undefined when nothing is held. */
export function activeHold({ status }: Pick<Placement, 'status'>): Condition | undefined {
  return status?.conditions?.find((one) => one.type === HELD_CONDITION && one.status === 'True');
}
