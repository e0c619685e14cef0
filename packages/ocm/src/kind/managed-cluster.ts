import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';

/** cluster.open-cluster-management.io/v1 */
export interface ManagedCluster {
  readonly apiVersion: string;
  readonly kind: 'ManagedCluster';
  readonly metadata: ObjectMeta;
  readonly spec?: ManagedClusterSpec | undefined;
  readonly status?: ManagedClusterStatus | undefined;
}

export interface ManagedClusterSpec {
  readonly hubAcceptsClient?: boolean | undefined;
  readonly leaseDurationSeconds?: number | undefined;
  readonly managedClusterClientConfigs?:
    | readonly { readonly url?: string; readonly caBundle?: string }[]
    | undefined;
  readonly taints?: readonly Taint[] | undefined;
}

export type TaintEffect = 'NoSelect' | 'PreferNoSelect' | 'NoSelectIfNew';

export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: TaintEffect;
  /** RFC 3339; set by the hub when the taint is added. */
  readonly timeAdded?: string | null | undefined;
}

export interface ManagedClusterStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly version?: { readonly kubernetes?: string | undefined } | undefined;
  /** Resource name to Kubernetes quantity. */
  readonly allocatable?: Readonly<Record<string, string | number>> | undefined;
  readonly capacity?: Readonly<Record<string, string | number>> | undefined;
  readonly clusterClaims?: readonly ClusterClaimValue[] | undefined;
  readonly managedNamespaces?: readonly ManagedNamespaceStatus[] | undefined;
}

/** A namespace that a cluster set requests on the cluster; the agent writes the conditions. */
export interface ManagedNamespaceStatus {
  readonly clusterSet: string;
  readonly name: string;
  readonly conditions?: readonly Condition[] | undefined;
}

export interface ClusterClaimValue {
  readonly name: string;
  readonly value: string;
}

/**
 * Whether something new may be made for the cluster: it exists and is not being deleted. A decision may still name a
 * cluster that is going, because its removal is held.
 */
export function takesWork(cluster: Pick<ManagedCluster, 'metadata'> | undefined): boolean {
  return cluster !== undefined && cluster.metadata.deletionTimestamp === undefined;
}

/** Label that makes a cluster a member of an ExclusiveClusterSetLabel set. */
export const CLUSTER_SET_LABEL = 'cluster.open-cluster-management.io/clusterset';
