import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import { PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { KubeObject } from '@berth/kube/model/object-meta';

/** Decisions by the name of a cluster that they list. */
export const DECISIONS_BY_CLUSTER: IndexDefinition = { kind: PLACEMENT_DECISION, keysOf: listedClusters };

export function listedClusters(decision: KubeObject): readonly string[] {
  const { status } = decision as unknown as PlacementDecision;
  return (status?.decisions ?? []).map(({ clusterName }) => clusterName);
}
