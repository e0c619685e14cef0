import type { Condition } from '@berth/kube/model/object-meta';
import { DELETING } from '@berth/ocm/registration/cluster-conditions';

/** A reason why what runs on a cluster that is being deleted must stay. */
export interface DeletionHold {
  /** For users: who holds it, and how the hold ends. */
  readonly text: string;
  /** False: the decision is only under way, and nobody needs to act. */
  readonly isHeld: boolean;
}

/** Condition reason, and reason of the Event. */
export const REMOVAL_HELD = 'RemovalHeld';

/** The condition of a cluster whose deletion waits. */
export function deletionWaits(holds: readonly DeletionHold[]): Condition {
  const isHeld = holds.some((hold) => hold.isHeld);
  return {
    type: DELETING,
    status: 'False',
    reason: isHeld ? REMOVAL_HELD : 'StillSelected',
    message: `Nothing is removed from the cluster yet: ${holds.map(({ text }) => text).join('; ')}`,
  };
}
