import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import {
  ADDON_PLACEMENT_SCORE,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import { withSchedulingEnabled } from '../inventory/schedulable-placement.ts';

/**
 * Reads a snapshot from a hub once. With `only`, just that placement is decided, with the published decisions of all
 * others. A kind that cannot be read is an error, never an empty list.
 */
export async function readHubSnapshot(hub: KubeApi, now: string, only?: PlacementRef): Promise<Snapshot> {
  const list = async <T>(kind: KindInfo): Promise<readonly T[]> =>
    (await hub.list(kind)).items as unknown as readonly T[];
  const [placements, clusters, clusterSets, bindings, decisions, scores] = await Promise.all([
    only === undefined ? list<Placement>(PLACEMENT) : readOne(hub, only),
    list<ManagedCluster>(MANAGED_CLUSTER),
    list<ManagedClusterSet>(MANAGED_CLUSTER_SET),
    list<ManagedClusterSetBinding>(MANAGED_CLUSTER_SET_BINDING),
    list<PlacementDecision>(PLACEMENT_DECISION),
    list<AddOnPlacementScore>(ADDON_PLACEMENT_SCORE),
  ]);
  return {
    now,
    placements: placements.map(withSchedulingEnabled),
    clusters,
    clusterSets,
    bindings,
    decisions,
    scores,
  };
}

async function readOne(hub: KubeApi, ref: PlacementRef): Promise<readonly Placement[]> {
  const found = await hub.get(PLACEMENT, ref);
  return found === undefined ? [] : [found as unknown as Placement];
}
