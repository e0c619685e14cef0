import type { Placement } from '../model/kind/placement.ts';
import { HELD_CONDITION } from '../publish/approval/publish-annotations.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { findCondition } from '../work/conditions/condition-list.ts';
import { recordedClusters } from './snapshot/recorded-decisions.ts';
import type { HoldFinding } from './verdict/explanation.ts';

/**
 * The change of a placement that is held, as its condition says. Undefined if none is.
 * @param wanted the clusters that it selects now
 */
export function placementHold(
  snapshot: Snapshot,
  { metadata, status }: Placement,
  wanted: readonly string[],
): HoldFinding | undefined {
  const held = findCondition(status?.conditions, HELD_CONDITION);
  if (held?.status !== 'True') return undefined;
  const ref = { namespace: metadata.namespace ?? '', name: metadata.name };
  return { reason: held.reason, message: held.message, published: recordedClusters(snapshot, ref), wanted };
}
