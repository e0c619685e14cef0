import { compareText } from '../compare-text.ts';
import { groupBy } from '../group-by.ts';
import type { AddOnPlacementScore } from '../model/kind/addon-placement-score.ts';
import {
  ADDON_PLACEMENT_SCORE,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  PLACEMENT_DECISION,
  typeKeyOf,
} from '../model/kinds.ts';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '../model/kind/managed-cluster-set.ts';
import type { ManagedCluster } from '../model/kind/managed-cluster.ts';
import type { PlacementDecision } from '../model/kind/placement-decision.ts';
import type { Placement } from '../model/kind/placement.ts';
import type { SourceObject } from '../model/source-object.ts';
import { oncePerList } from '../once-per-list.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { defaultPlacement, stampTaintTimes } from './crd-defaults.ts';

/**
 * The snapshot of a fleet without a hub: recorded status (claims, resources, scores, decisions) is
 * used unchanged, absent fields get the defaults of a hub. Placements are in the order of their
 * names, as for a controller that starts on an empty hub.
 */
export function snapshotOfObjects(
  objects: readonly Pick<SourceObject, 'object'>[],
  options: { readonly now: string },
): Snapshot {
  const fleet = objectsByType(objects);
  const ofKind = <T>(kind: KindInfo): readonly T[] =>
    (fleet.get(typeKeyOf(kind)) ?? []) as unknown as readonly T[];
  return {
    now: options.now,
    placements: ofKind<Placement>(PLACEMENT).map(defaultPlacement).sort(byName),
    clusters: ofKind<ManagedCluster>(MANAGED_CLUSTER).map((cluster) => stampTaintTimes(cluster, options.now)),
    clusterSets: ofKind<ManagedClusterSet>(MANAGED_CLUSTER_SET),
    bindings: ofKind<ManagedClusterSetBinding>(MANAGED_CLUSTER_SET_BINDING),
    decisions: ofKind<PlacementDecision>(PLACEMENT_DECISION),
    scores: ofKind<AddOnPlacementScore>(ADDON_PLACEMENT_SCORE),
  };
}

const objectsByType = oncePerList((sources: readonly Pick<SourceObject, 'object'>[]) =>
  groupBy(
    sources.map(({ object }) => object),
    ({ apiVersion, kind }) => `${apiVersion} ${kind}`,
  ),
);

function byName(a: Placement, b: Placement): number {
  return compareText(
    `${a.metadata.namespace}/${a.metadata.name}`,
    `${b.metadata.namespace}/${b.metadata.name}`,
  );
}
