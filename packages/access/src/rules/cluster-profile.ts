import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import { kind } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';

export const CLUSTER_PROFILE = kind('multicluster.x-k8s.io', 'v1alpha1', 'ClusterProfile', 'Namespaced');
/** Of profiles that this hub writes, and of the way to their clusters. */
export const CLUSTER_MANAGER = 'open-cluster-management';
export const CLUSTER_MANAGER_LABEL = 'x-k8s.io/cluster-manager';
const PROFILE_SET_LABEL = 'multicluster.x-k8s.io/clusterset';
/** Under this name kubeconfigs have the configuration of an exec plugin (client-go `tools/clientcmd/api`). */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

export interface ClusterProfileStatus {
  readonly accessProviders?: readonly { readonly name: string }[];
  readonly conditions?: readonly Condition[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
  readonly version?: { readonly kubernetes?: string };
}

/** The user server, as a ConfigMap of the hub says. */
export interface UserServerEntry {
  readonly url: string;
  readonly ca: string;
}

export function isOurs({ metadata }: KubeObject): boolean {
  return metadata.labels?.[CLUSTER_MANAGER_LABEL] === CLUSTER_MANAGER;
}

/** Source: ocm 1.2.1 `pkg/registration/hub/clusterprofile/lifecycle_controller.go`. */
export function clusterProfile(cluster: ManagedCluster, namespace: string): KubeObject {
  const { name } = cluster.metadata;
  return {
    ...{ apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: CLUSTER_PROFILE.kind },
    metadata: { namespace, name, labels: profileLabels(cluster) },
    spec: { displayName: name, clusterManager: { name: CLUSTER_MANAGER } },
  };
}

export function profileLabels({ metadata }: ManagedCluster): Readonly<Record<string, string>> {
  return {
    [CLUSTER_MANAGER_LABEL]: CLUSTER_MANAGER,
    [CLUSTER_NAME_LABEL]: metadata.name,
    [PROFILE_SET_LABEL]: metadata.labels?.[CLUSTER_SET_LABEL] ?? '',
  };
}

/**
 * What a profile says of its cluster; what others say stays.
 * Sources: ocm 1.2.1 `pkg/registration/hub/clusterprofile/status_controller.go`; cluster-proxy of 2026 for the access provider.
 * @param entry undefined: the cluster is not reached through the hub
 * @param now RFC 3339, seconds
 */
export function profileStatus(
  before: ClusterProfileStatus,
  { metadata: { name }, status }: ManagedCluster,
  { entry, now }: { readonly entry: UserServerEntry | undefined; readonly now: string },
): ClusterProfileStatus {
  const told = [
    ['ControlPlaneHealthy', findCondition(status?.conditions, 'ManagedClusterConditionAvailable')],
    ['Joined', findCondition(status?.conditions, 'ManagedClusterJoined')],
  ] as const;
  const conditions = told.reduce(
    (list, [type, found]) =>
      found === undefined
        ? list
        : setCondition(
            list,
            { type, status: found.status, reason: found.reason, message: found.message },
            now,
          ),
    before.conditions ?? [],
  );
  const others = (before.accessProviders ?? []).filter((provider) => provider.name !== CLUSTER_MANAGER);
  const kubernetes = status?.version?.kubernetes;
  return {
    ...before,
    conditions,
    properties: (status?.clusterClaims ?? []).map((claim) => ({ name: claim.name, value: claim.value })),
    ...(kubernetes !== undefined && { version: { kubernetes } }),
    accessProviders: [...(entry === undefined ? [] : [accessProvider(name, entry)]), ...others],
  };
}

function accessProvider(clusterName: string, { url, ca }: UserServerEntry) {
  return {
    name: CLUSTER_MANAGER,
    cluster: {
      server: `${url}/${clusterName}`,
      'certificate-authority-data': Buffer.from(ca).toString('base64'),
      extensions: [{ name: EXEC_EXTENSION, extension: { clusterName } }],
    },
  };
}
