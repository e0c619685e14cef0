import { compareText } from '../compare-text.ts';
import type { AddOnPlacementScore } from '../model/kind/addon-placement-score.ts';
import {
  ADDON_PLACEMENT_SCORE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '../model/kinds.ts';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '../model/kind/managed-cluster-set.ts';
import type { ManagedCluster } from '../model/kind/managed-cluster.ts';
import type { PlacementDecision } from '../model/kind/placement-decision.ts';
import type { Placement } from '../model/kind/placement.ts';
import type { SourceObject } from '../model/source-object.ts';
import { oncePerList } from '../once-per-list.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { defaultPlacement, stampTaintTimes } from './crd-defaults.ts';
import { ObjectsByKind } from './objects-by-kind.ts';

/**
 * The snapshot of a fleet without a hub: recorded status (claims, resources, scores, decisions) is
 * used unchanged, absent fields get the defaults of a hub. Placements are in the order of their
 * names, as for a controller that starts on an empty hub.
 */
export function snapshotOfObjects(
  objects: readonly SourceObject[],
  options: { readonly now: string },
): Snapshot {
  const fleet = objectsByKind(objects);
  const plain = <T extends { readonly metadata: unknown }>(
    sources: readonly SourceObject<T>[],
  ): readonly T[] => sources.map(({ object }) => object);
  return {
    now: options.now,
    placements: plain(fleet.ofKind<Placement>(PLACEMENT)).map(defaultPlacement).sort(byName),
    clusters: plain(fleet.ofKind<ManagedCluster>(MANAGED_CLUSTER)).map((cluster) =>
      stampTaintTimes(cluster, options.now),
    ),
    clusterSets: plain(fleet.ofKind<ManagedClusterSet>(MANAGED_CLUSTER_SET)),
    bindings: plain(fleet.ofKind<ManagedClusterSetBinding>(MANAGED_CLUSTER_SET_BINDING)),
    decisions: plain(fleet.ofKind<PlacementDecision>(PLACEMENT_DECISION)),
    scores: plain(fleet.ofKind<AddOnPlacementScore>(ADDON_PLACEMENT_SCORE)),
  };
}

const objectsByKind = oncePerList((objects: readonly SourceObject[]) => new ObjectsByKind(objects));

function byName(a: Placement, b: Placement): number {
  return compareText(
    `${a.metadata.namespace}/${a.metadata.name}`,
    `${b.metadata.namespace}/${b.metadata.name}`,
  );
}
