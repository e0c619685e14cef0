import type { AddOnPlacementScore } from '../model/addon-placement-score.ts';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '../model/managed-cluster-set.ts';
import type { ManagedCluster } from '../model/managed-cluster.ts';
import type { Placement } from '../model/placement.ts';
import type { World } from '../snapshot/world.ts';

/** What changed in a world since the last look. Objects replace those of the same name; the rest stays as it is. */
export interface WorldDelta {
  /** RFC 3339 */
  readonly now?: string | undefined;
  readonly clusters?: readonly ManagedCluster[] | undefined;
  readonly removedClusters?: readonly string[] | undefined;
  /** A placement of a new key is scheduled after all others. */
  readonly placements?: readonly Placement[] | undefined;
  /** `namespace/name`; their decisions go with them. */
  readonly removedPlacements?: readonly string[] | undefined;
  readonly scores?: readonly AddOnPlacementScore[] | undefined;
  /** `namespace/name` */
  readonly removedScores?: readonly string[] | undefined;
  /** All sets and all bindings from now on. */
  readonly clusterSets?: readonly ManagedClusterSet[] | undefined;
  readonly bindings?: readonly ManagedClusterSetBinding[] | undefined;
}

type Named = { readonly metadata: { readonly name: string; readonly namespace?: string | undefined } };

/** The world after a delta, its decisions left as they are except those of removed placements. */
export function applyToWorld(world: World, delta: WorldDelta): World {
  return {
    now: delta.now ?? world.now,
    placements: replaced(world.placements, delta.placements, delta.removedPlacements),
    clusters: replaced(
      world.clusters,
      delta.clusters,
      delta.removedClusters?.map((name) => `/${name}`),
    ),
    clusterSets: delta.clusterSets ?? world.clusterSets,
    bindings: delta.bindings ?? world.bindings,
    decisions: world.decisions,
    scores: replaced(world.scores, delta.scores, delta.removedScores),
  };
}

function replaced<T extends Named>(
  items: readonly T[],
  changed: readonly T[] = [],
  removed: readonly string[] = [],
): readonly T[] {
  if (changed.length === 0 && removed.length === 0) return items;
  const byKey = new Map(items.map((item) => [keyOf(item), item]));
  for (const key of removed) byKey.delete(key);
  for (const item of changed) byKey.set(keyOf(item), item);
  return [...byKey.values()];
}

function keyOf({ metadata }: Named): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
