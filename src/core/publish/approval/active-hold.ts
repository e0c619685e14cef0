import type { Condition } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';

/**
 * The condition that says that a change of the placement is held. Undefined when nothing is held.
 */
export function activeHold({ status }: Pick<Placement, 'status'>): Condition | undefined {
  return status?.conditions?.find((one) => one.type === HELD_CONDITION && one.status === 'True');
}
