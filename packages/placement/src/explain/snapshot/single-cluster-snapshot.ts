import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { decisionsOfPlacement, scoresOfCluster } from './snapshot-lookup.ts';

/**
 * The part of a snapshot that determines whether one cluster passes the filters of one placement. A
 * scheduler run on it takes microseconds, independent of the size of the fleet. `numberOfClusters`
 * is removed, because there is no ranking against others.
 */
export function singleClusterSnapshot(
  snapshot: Snapshot,
  placement: Placement,
  cluster: ManagedCluster,
): Snapshot {
  const { namespace = '', name } = placement.metadata;
  const { numberOfClusters: _, ...spec } = placement.spec ?? {};
  return {
    now: snapshot.now,
    placements: [{ ...placement, spec }],
    clusters: [cluster],
    clusterSets: snapshot.clusterSets,
    bindings: snapshot.bindings.filter(({ metadata }) => metadata.namespace === namespace),
    decisions: decisionsOfPlacement(snapshot, { namespace, name }),
    scores: scoresOfCluster(snapshot, cluster.metadata.name),
  };
}
