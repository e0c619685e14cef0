import type { Condition } from '../../model/object-meta.ts';
import type { Placement } from '../../model/kind/placement.ts';
import { HELD_CONDITION } from './publish-annotations.ts';

/**
 * The condition that says that a change of the placement is held. Undefined when nothing is held.
 */
export function activeHold({ status }: Pick<Placement, 'status'>): Condition | undefined {
  return status?.conditions?.find((one) => one.type === HELD_CONDITION && one.status === 'True');
}
