import type { IndexDefinition } from '../../adapters/kube/cache/object-cache.ts';
import { PLACEMENT_DECISION } from '../../core/model/kinds.ts';
import { PLACEMENT_LABEL, type PlacementDecision } from '../../core/model/kind/placement-decision.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';

/** Decisions by the name of a cluster that they list. */
export const DECISIONS_BY_CLUSTER: IndexDefinition = { kind: PLACEMENT_DECISION, keysOf: listedClusters };

export function listedClusters(decision: KubeObject): readonly string[] {
  const { status } = decision as unknown as PlacementDecision;
  return (status?.decisions ?? []).map(({ clusterName }) => clusterName);
}

/** `namespace/name` of the placement; undefined without its label. */
export function placementOfDecision({ metadata }: KubeObject): string | undefined {
  const placement = metadata.labels?.[PLACEMENT_LABEL];
  return placement === undefined ? undefined : `${metadata.namespace ?? ''}/${placement}`;
}
