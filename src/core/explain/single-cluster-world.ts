import { PLACEMENT_LABEL } from '../model/placement-decision.ts';
import type { Placement } from '../model/placement.ts';
import type { World } from '../snapshot/world.ts';

/**
 * The part of a world that decides whether one cluster passes the filters of one placement: a scheduler run on it costs
 * microseconds, whatever the size of the fleet. Ranking against others is left out, so `numberOfClusters` is taken away.
 */
export function singleClusterWorld(world: World, placement: Placement, clusterName: string): World {
  const namespace = placement.metadata.namespace ?? '';
  const { numberOfClusters: _, ...spec } = placement.spec ?? {};
  return {
    now: world.now,
    placements: [{ ...placement, spec }],
    clusters: world.clusters.filter(({ metadata }) => metadata.name === clusterName),
    clusterSets: world.clusterSets,
    bindings: world.bindings.filter(({ metadata }) => metadata.namespace === namespace),
    decisions: world.decisions.filter(
      ({ metadata }) =>
        metadata.namespace === namespace && metadata.labels?.[PLACEMENT_LABEL] === placement.metadata.name,
    ),
    scores: world.scores.filter(({ metadata }) => metadata.namespace === clusterName),
  };
}
