import {
  ADDON_PLACEMENT_SCORE,
  apiVersionOf,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
} from '@berth/kube/model/kinds';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { objectIdentity } from '@berth/kube/model/object-ref';

const KINDS = {
  placements: PLACEMENT,
  clusters: MANAGED_CLUSTER,
  clusterSets: MANAGED_CLUSTER_SET,
  bindings: MANAGED_CLUSTER_SET_BINDING,
  scores: ADDON_PLACEMENT_SCORE,
} as const;

/**
 * The snapshot without some objects; their decisions stay.
 * @param gone identities, see `objectIdentity`
 */
export function snapshotWithout(snapshot: Snapshot, gone: ReadonlySet<string>): Snapshot {
  if (gone.size === 0) return snapshot;
  // Items of a list from a hub have no kind.
  const isGone = (kind: KindInfo, metadata: Snapshot['placements'][number]['metadata']): boolean => {
    const { namespace = '', name } = metadata;
    return gone.has(objectIdentity({ apiVersion: apiVersionOf(kind), kind: kind.kind, namespace, name }));
  };
  return {
    ...snapshot,
    placements: snapshot.placements.filter(({ metadata }) => !isGone(KINDS.placements, metadata)),
    clusters: snapshot.clusters.filter(({ metadata }) => !isGone(KINDS.clusters, metadata)),
    clusterSets: snapshot.clusterSets.filter(({ metadata }) => !isGone(KINDS.clusterSets, metadata)),
    bindings: snapshot.bindings.filter(({ metadata }) => !isGone(KINDS.bindings, metadata)),
    scores: snapshot.scores.filter(({ metadata }) => !isGone(KINDS.scores, metadata)),
  };
}
