import {
  ADDON_PLACEMENT_SCORE,
  apiVersionOf,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
} from '../model/kinds.ts';
import type { World } from '../snapshot/world.ts';
import { identityOf } from '../sync/plan-prune.ts';

const KINDS = {
  placements: PLACEMENT,
  clusters: MANAGED_CLUSTER,
  clusterSets: MANAGED_CLUSTER_SET,
  bindings: MANAGED_CLUSTER_SET_BINDING,
  scores: ADDON_PLACEMENT_SCORE,
} as const;

/**
 * The world without some objects; their decisions stay.
 * @param gone identities, see `identityOf`
 */
export function worldWithout(world: World, gone: ReadonlySet<string>): World {
  if (gone.size === 0) return world;
  // Items of a list from a hub do not say their kind.
  const isGone = (kind: KindInfo, metadata: World['placements'][number]['metadata']): boolean => {
    const { namespace = '', name } = metadata;
    return gone.has(identityOf({ apiVersion: apiVersionOf(kind), kind: kind.kind, namespace, name }));
  };
  return {
    ...world,
    placements: world.placements.filter(({ metadata }) => !isGone(KINDS.placements, metadata)),
    clusters: world.clusters.filter(({ metadata }) => !isGone(KINDS.clusters, metadata)),
    clusterSets: world.clusterSets.filter(({ metadata }) => !isGone(KINDS.clusterSets, metadata)),
    bindings: world.bindings.filter(({ metadata }) => !isGone(KINDS.bindings, metadata)),
    scores: world.scores.filter(({ metadata }) => !isGone(KINDS.scores, metadata)),
  };
}
