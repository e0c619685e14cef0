import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import { PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { PLACEMENT_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ConfigReferent } from '@berth/ocm/kind/addon';
import type { PlacementSelection } from '../../core/addon/install/plan-install.ts';

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

/** What placements select, by decisions that were listed. */
export function selectionBy(
  decisions: readonly KubeObject[],
): (placement: ConfigReferent) => PlacementSelection {
  return ({ namespace = '', name }) => {
    const pages = decisions.filter((page) => placementOfDecision(page) === `${namespace}/${name}`);
    return pages.length === 0
      ? { kind: 'undecided' }
      : { kind: 'decided', decisions: pages as unknown as readonly PlacementDecision[] };
  };
}
