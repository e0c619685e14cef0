import type { Placement } from '@berth/ocm/kind/placement';
import { HELD_CONDITION } from './verdict/names-on-placements.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { findCondition } from '@berth/kube/model/condition-list';
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
