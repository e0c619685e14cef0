import { compareText } from '@berth/runtime/text/compare-text';
import { groupBy } from '@berth/runtime/lists/group-by';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import {
  ADDON_PLACEMENT_SCORE,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  PLACEMENT_DECISION,
  typeKeyOf,
} from '@berth/kube/model/kinds';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import type { SourceObject } from '@berth/kube/model/source-object';
import { oncePerList } from '@berth/runtime/lists/once-per-list';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
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
