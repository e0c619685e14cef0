import type { Placement } from '../../model/kind/placement.ts';
import type { Condition } from '../../model/object-meta.ts';
import { activeHold } from '../approval/active-hold.ts';

/** Whether a promotion that depends on a placement may continue. */
export interface PlacementGate {
  readonly open: boolean;
  /** Why it is closed; empty when it is open. */
  readonly reasons: readonly GateReason[];
}

export interface GateReason {
  /** As conditions have it: `WouldEmpty`. */
  readonly reason: string;
  readonly message: string;
}

/**
 * The gate of a placement is open while no change of it is held, it has the requested number of
 * clusters, the state of the hub is current, and it is not being deleted. @param unknown why the
 * known state of the hub is not current; undefined: it is
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
    ...unsatisfied(satisfied),
  ];
  return { open: reasons.length === 0, reasons };
}

function unsatisfied(satisfied: Condition | undefined): readonly GateReason[] {
  if (satisfied === undefined)
    return [{ reason: 'NotDecided', message: 'The placement has no decision yet.' }];
  return satisfied.status === 'True' ? [] : [{ reason: satisfied.reason, message: satisfied.message }];
}
