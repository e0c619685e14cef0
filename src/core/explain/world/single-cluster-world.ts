import type { ManagedCluster } from '../../model/kind/managed-cluster.ts';
import type { Placement } from '../../model/kind/placement.ts';
import type { World } from '../../snapshot/world.ts';
import { decisionsOf, scoresOfCluster } from './world-lookup.ts';

/**
 * The part of a world that decides whether one cluster passes the filters of one placement: a scheduler run on it costs
 * microseconds, whatever the size of the fleet. Ranking against others is left out, so `numberOfClusters` is taken away.
 */
export function singleClusterWorld(world: World, placement: Placement, cluster: ManagedCluster): World {
  const { namespace = '', name } = placement.metadata;
  const { numberOfClusters: _, ...spec } = placement.spec ?? {};
  return {
    now: world.now,
    placements: [{ ...placement, spec }],
    clusters: [cluster],
    clusterSets: world.clusterSets,
    bindings: world.bindings.filter(({ metadata }) => metadata.namespace === namespace),
    decisions: decisionsOf(world, { namespace, name }),
    scores: scoresOfCluster(world, cluster.metadata.name),
  };
}
