import { compileLabelSelector, matchesLabels } from '@berth/kube/model/selector/label-selector-compile';
import type { CompiledSelector } from '@berth/kube/model/selector/label-selector-compile';
import { CLUSTER_SET_LABEL } from '@berth/ocm/kind/managed-cluster';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import { labelOf } from '../snapshot/cluster-index.ts';

/** How a set defines its members. */
export type SetMembership =
  | { readonly by: 'label'; readonly name: string }
  | { readonly by: 'selector'; readonly selector: CompiledSelector }
  | { readonly by: 'nothing' };

/**
 * Reads how a set defines its members. A set with an invalid selector or an unknown selector type
 * has no members.
 */
export function membershipOf(set: ManagedClusterSet): SetMembership {
  const selector = set.spec?.clusterSelector;
  const type = selector?.selectorType ?? '';
  if (type === '' || type === 'ExclusiveClusterSetLabel') return { by: 'label', name: set.metadata.name };
  if (type !== 'LabelSelector' || selector?.labelSelector === undefined) return { by: 'nothing' };
  const compiled = compileLabelSelector(selector.labelSelector);
  return compiled.ok ? { by: 'selector', selector: compiled.selector } : { by: 'nothing' };
}

export function isMember(cluster: ManagedCluster, membership: SetMembership): boolean {
  return membership.by === 'label'
    ? labelOf(cluster, CLUSTER_SET_LABEL) === membership.name
    : membership.by === 'selector' && matchesLabels(membership.selector, cluster.metadata.labels);
}
