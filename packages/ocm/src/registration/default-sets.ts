import { apiVersionOf, MANAGED_CLUSTER_SET } from '@berth/kube/model/kinds';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { DEFAULT_SET } from '../admission/complete-cluster.ts';
import type { ManagedClusterSelector, ManagedClusterSet } from '../kind/managed-cluster-set.ts';
import { CLUSTER_SET_LABEL, type ManagedCluster, takesWork } from '../kind/managed-cluster.ts';

/** On a set, value `false`: its selector is not restored. */
const AUTO_UPDATE_ANNOTATION = 'cluster.open-cluster-management.io/autoupdate';

/** The sets that every hub has, by name: `default` selects by label, `global` selects every cluster. */
export const DEFAULT_SETS: ReadonlyMap<string, ManagedClusterSelector> = new Map([
  ['default', { selectorType: 'ExclusiveClusterSetLabel' }],
  ['global', { selectorType: 'LabelSelector', labelSelector: {} }],
]);

/** Decisions are made again when a cluster is another object. */
const LABELLED = new WeakMap<ManagedCluster, ManagedCluster>();

/**
 * The labels that a cluster without a set needs: those of the default set. Undefined if it has a set, or is being
 * deleted. OCM's webhook adds them with any write, also where a person removed the label; a hub without webhooks has
 * nobody else who would.
 * Source: open-cluster-management.io/ocm `pkg/registration/webhook/v1/managedcluster_mutating.go`.
 */
export function planDefaultMembership(
  cluster: Pick<ManagedCluster, 'metadata'>,
): Readonly<Record<string, string>> | undefined {
  if (!takesWork(cluster) || (cluster.metadata.labels?.[CLUSTER_SET_LABEL] ?? '') !== '') return undefined;
  return { [CLUSTER_SET_LABEL]: DEFAULT_SET };
}

export type DefaultSetPlan =
  | { readonly kind: 'create'; readonly set: ManagedClusterSet }
  | { readonly kind: 'restore'; readonly selector: ManagedClusterSelector };

/**
 * The write that creates a default set, or restores its selector. Labels, annotations and managed namespaces belong to
 * the user. Undefined: nothing to write.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/managedclusterset/default_managedclusterset_controller.go`.
 */
export function planDefaultSet(
  name: string,
  existing: ManagedClusterSet | undefined,
): DefaultSetPlan | undefined {
  const selector = DEFAULT_SETS.get(name);
  if (selector === undefined) return undefined;
  if (existing === undefined)
    return {
      kind: 'create',
      set: {
        apiVersion: apiVersionOf(MANAGED_CLUSTER_SET),
        kind: 'ManagedClusterSet',
        metadata: { name },
        spec: { clusterSelector: selector },
      },
    };
  if (existing.metadata.deletionTimestamp !== undefined) return undefined;
  if (existing.metadata.annotations?.[AUTO_UPDATE_ANNOTATION] === 'false') return undefined;
  return jsonEqual(existing.spec?.clusterSelector, selector) ? undefined : { kind: 'restore', selector };
}

/** Adds the label of the default set where admission does; see `completeCluster`. */
export function inDefaultSet(cluster: ManagedCluster): ManagedCluster {
  const { labels = {} } = cluster.metadata;
  if ((labels[CLUSTER_SET_LABEL] ?? '') !== '') return cluster;
  let labelled = LABELLED.get(cluster);
  if (labelled === undefined) {
    const all = { ...labels, [CLUSTER_SET_LABEL]: DEFAULT_SET };
    LABELLED.set(cluster, (labelled = { ...cluster, metadata: { ...cluster.metadata, labels: all } }));
  }
  return labelled;
}
