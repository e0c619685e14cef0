import type { LabelSelector } from '@berth/kube/model/selector/label-selector-compile';
import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';

/** cluster.open-cluster-management.io/v1beta2 */
export interface ManagedClusterSet {
  readonly apiVersion: string;
  readonly kind: 'ManagedClusterSet';
  readonly metadata: ObjectMeta;
  readonly spec?:
    | {
        readonly clusterSelector?: ManagedClusterSelector | undefined;
        readonly managedNamespaces?: readonly { readonly name: string }[] | undefined;
      }
    | undefined;
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

export interface ManagedClusterSelector {
  /** Absent or '' means ExclusiveClusterSetLabel. */
  readonly selectorType?: 'ExclusiveClusterSetLabel' | 'LabelSelector' | '' | undefined;
  readonly labelSelector?: LabelSelector | undefined;
}

/** cluster.open-cluster-management.io/v1beta2; lets placements of its namespace use the set of the same name. */
export interface ManagedClusterSetBinding {
  readonly apiVersion: string;
  readonly kind: 'ManagedClusterSetBinding';
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly clusterSet?: string | undefined } | undefined;
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}
