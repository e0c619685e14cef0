import type { Placement } from '@berth/ocm/kind/placement';
import type { Condition } from '@berth/kube/model/object-meta';
import { activeHold } from '../approval/approval-code.ts';

/** Whether a promotion that depends on a placement may continue. */
export interface PlacementGate {
  readonly open: boolean;
  /** Why it is closed; empty when it is open. */
  readonly reasons: readonly GateReason[];
}

export interface GateReason {
  /** The reason as in a condition, for example `WouldEmpty`. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Computes the gate of a placement. The gate is open if no change of the placement is held, the
 * placement has the requested number of clusters, the state of the hub is current, and the
 * placement is not being deleted.
 * @param unknown why the known state of the hub is not current; undefined if it is current
 */
export function placementGate(
  { metadata, status }: Pick<Placement, 'metadata' | 'status'>,
  unknown: string | undefined,
): PlacementGate {
  const held = activeHold({ status });
  const satisfied = status?.conditions?.find(({ type }) => type === 'PlacementSatisfied');
  const reasons: readonly GateReason[] = [
    ...(unknown === undefined ? [] : [{ reason: 'HubUnknown', message: unknown }]),
    ...(metadata.deletionTimestamp === undefined
      ? []
      : [{ reason: 'Deleting', message: 'The placement is being deleted.' }]),
    ...(held === undefined ? [] : [{ reason: held.reason, message: held.message }]),
    ...unsatisfiedReasons(satisfied),
  ];
  return { open: reasons.length === 0, reasons };
}

function unsatisfiedReasons(satisfied: Condition | undefined): readonly GateReason[] {
  if (satisfied === undefined)
    return [{ reason: 'NotDecided', message: 'The placement has no decision yet.' }];
  return satisfied.status === 'True' ? [] : [{ reason: satisfied.reason, message: satisfied.message }];
}
