import builtinKinds from './builtin-kinds.json' with { type: 'json' };

/** One kind of the Kubernetes API, with what a client needs to address it. */
export interface KindInfo {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const CLUSTER = 'cluster.open-cluster-management.io';
const WORK = 'work.open-cluster-management.io';
const ADDON = 'addon.open-cluster-management.io';

export function kind(
  group: string,
  version: string,
  name: string,
  scope: 'Namespaced' | 'Cluster',
): KindInfo {
  return { group, version, kind: name, plural: `${name.toLowerCase()}s`, namespaced: scope === 'Namespaced' };
}

export const MANAGED_CLUSTER = kind(CLUSTER, 'v1', 'ManagedCluster', 'Cluster');
export const MANAGED_CLUSTER_SET = kind(CLUSTER, 'v1beta2', 'ManagedClusterSet', 'Cluster');
export const MANAGED_CLUSTER_SET_BINDING = kind(CLUSTER, 'v1beta2', 'ManagedClusterSetBinding', 'Namespaced');
export const PLACEMENT = kind(CLUSTER, 'v1beta1', 'Placement', 'Namespaced');
export const PLACEMENT_DECISION = kind(CLUSTER, 'v1beta1', 'PlacementDecision', 'Namespaced');
export const ADDON_PLACEMENT_SCORE = kind(CLUSTER, 'v1alpha1', 'AddOnPlacementScore', 'Namespaced');
export const MANIFEST_WORK = kind(WORK, 'v1', 'ManifestWork', 'Namespaced');
export const APPLIED_MANIFEST_WORK = kind(WORK, 'v1', 'AppliedManifestWork', 'Cluster');
export const MANIFEST_WORK_REPLICA_SET = kind(WORK, 'v1alpha1', 'ManifestWorkReplicaSet', 'Namespaced');
export const MANAGED_CLUSTER_ADDON = kind(ADDON, 'v1alpha1', 'ManagedClusterAddOn', 'Namespaced');
export const CLUSTER_MANAGEMENT_ADDON = kind(ADDON, 'v1alpha1', 'ClusterManagementAddOn', 'Cluster');
export const ADDON_TEMPLATE = kind(ADDON, 'v1alpha1', 'AddOnTemplate', 'Cluster');
export const ADDON_DEPLOYMENT_CONFIG = kind(ADDON, 'v1alpha1', 'AddOnDeploymentConfig', 'Namespaced');

export const NAMESPACE = kind('', 'v1', 'Namespace', 'Cluster');
export const CONFIG_MAP = kind('', 'v1', 'ConfigMap', 'Namespaced');
export const SECRET = kind('', 'v1', 'Secret', 'Namespaced');
export const SERVICE_ACCOUNT = kind('', 'v1', 'ServiceAccount', 'Namespaced');
export const NODE = kind('', 'v1', 'Node', 'Cluster');
export const POD = kind('', 'v1', 'Pod', 'Namespaced');
export const ENDPOINT_SLICE = kind('discovery.k8s.io', 'v1', 'EndpointSlice', 'Namespaced');
export const SELF_SUBJECT_ACCESS_REVIEW = kind(
  'authorization.k8s.io',
  'v1',
  'SelfSubjectAccessReview',
  'Cluster',
);
export const CLUSTER_CLAIM = kind(CLUSTER, 'v1alpha1', 'ClusterClaim', 'Cluster');
export const CLUSTER_PROPERTY: KindInfo = {
  ...kind('about.k8s.io', 'v1alpha1', 'ClusterProperty', 'Cluster'),
  plural: 'clusterproperties',
};
/** Of metrics-server; its resource has the same name as that of nodes. */
export const NODE_METRICS: KindInfo = {
  ...kind('metrics.k8s.io', 'v1beta1', 'NodeMetrics', 'Cluster'),
  plural: 'nodes',
};
export const LEASE = kind('coordination.k8s.io', 'v1', 'Lease', 'Namespaced');
export const DEPLOYMENT = kind('apps', 'v1', 'Deployment', 'Namespaced');
export const CONTROLLER_REVISION = kind('apps', 'v1', 'ControllerRevision', 'Namespaced');
export const ROLE = kind('rbac.authorization.k8s.io', 'v1', 'Role', 'Namespaced');
export const ROLE_BINDING = kind('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'Namespaced');
export const CLUSTER_ROLE = kind('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'Cluster');
export const CLUSTER_ROLE_BINDING = kind('rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding', 'Cluster');
export const CERTIFICATE_REQUEST = kind('certificates.k8s.io', 'v1', 'CertificateSigningRequest', 'Cluster');
export const EVENT = kind('events.k8s.io', 'v1', 'Event', 'Namespaced');
export const SUBJECT_ACCESS_REVIEW = kind('authorization.k8s.io', 'v1', 'SubjectAccessReview', 'Cluster');
export const CUSTOM_RESOURCE_DEFINITION = kind(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'Cluster',
);
export const SELF_SUBJECT_REVIEW = kind('authentication.k8s.io', 'v1', 'SelfSubjectReview', 'Cluster');

/** The OCM kinds that Berth itself reads or writes. */
export const OCM_KINDS: readonly KindInfo[] = [
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  PLACEMENT_DECISION,
  ADDON_PLACEMENT_SCORE,
  MANIFEST_WORK,
  APPLIED_MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  MANAGED_CLUSTER_ADDON,
  CLUSTER_MANAGEMENT_ADDON,
];

/** Kubernetes' own kinds, each in its preferred version. */
export const BUILTIN_KINDS: readonly KindInfo[] = builtinKinds;

/** `plural.group`, or `plural` alone for the core group, as Kubernetes prints a GroupResource. */
export function groupResource({ group, plural }: Pick<KindInfo, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

export function apiVersionOf(info: Pick<KindInfo, 'group' | 'version'>): string {
  return info.group === '' ? info.version : `${info.group}/${info.version}`;
}

/** A key for a kind in one version: `cluster.open-cluster-management.io/v1 ManagedCluster`. */
export function typeKeyOf(info: KindInfo): string {
  return `${apiVersionOf(info)} ${info.kind}`;
}

/**
 * The resource that a kind has by Kubernetes' rule, for a client that cannot ask: `networkpolicies` for NetworkPolicy.
 * Source: k8s.io/apimachinery pkg/api/meta/restmapper.go, UnsafeGuessKindToResource.
 */
export function guessedResource(kind: string): string {
  const name = kind.toLowerCase();
  if (name.endsWith('s')) return `${name}es`;
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`;
}
