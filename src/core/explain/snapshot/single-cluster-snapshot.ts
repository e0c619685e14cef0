import type { ManagedCluster } from '../../model/kind/managed-cluster.ts';
import type { Placement } from '../../model/kind/placement.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { decisionsOfPlacement, scoresOfCluster } from './snapshot-lookup.ts';

/**
 * The part of a snapshot that decides whether one cluster passes the filters of one placement: a scheduler run on it costs
 * microseconds, whatever the size of the fleet. Ranking against others is left out, so `numberOfClusters` is taken away.
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
