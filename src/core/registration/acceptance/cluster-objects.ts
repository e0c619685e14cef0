import {
  apiVersionOf,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  type KindInfo,
  NAMESPACE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { DesiredObject } from '@berth/kube/model/object-writes';
import {
  CLUSTER_NAME_LABEL,
  clusterGroup,
  REGISTER_GROUP,
  WORK_FINALIZER,
} from '@berth/ocm/registration/names';

const PREFIX = 'open-cluster-management:managedcluster';

/** The ClusterRoles that every accepted cluster shares, bound in its namespace. */
export const REGISTRATION_ROLE = `${PREFIX}:registration`;
export const WORK_ROLE = `${PREFIX}:work`;

/** Name of the ClusterRole of one cluster, and of its binding. */
export function clusterRoleName(cluster: string): string {
  return `${PREFIX}:${cluster}`;
}

export function registrationBindingName(cluster: string): string {
  return `${PREFIX}:${cluster}:registration`;
}

export function workBindingName(cluster: string): string {
  return `${PREFIX}:${cluster}:work`;
}

/**
 * The objects of an accepted cluster on the hub besides its ManagedCluster, in the order of writing.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/manifests/rbac`.
 */
export function acceptedObjects(cluster: string): readonly DesiredObject[] {
  return [
    objectOf(NAMESPACE, { name: cluster, labels: labelsOf(cluster) }),
    ...clusterWide(cluster, acceptedRules(cluster)),
    roleBinding(cluster, registrationBindingName(cluster), REGISTRATION_ROLE),
    roleBinding(cluster, workBindingName(cluster), WORK_ROLE, [WORK_FINALIZER]),
  ];
}

/** The objects of a denied cluster: the right to see that it is denied. */
export function deniedObjects(cluster: string): readonly DesiredObject[] {
  return clusterWide(cluster, deniedRules(cluster));
}

/** The roles that all clusters share. */
export function sharedRoles(): readonly DesiredObject[] {
  return [
    objectOf(CLUSTER_ROLE, { name: REGISTRATION_ROLE }, { rules: REGISTRATION_RULES }),
    objectOf(CLUSTER_ROLE, { name: WORK_ROLE }, { rules: WORK_RULES }),
  ];
}

function clusterWide(cluster: string, rules: readonly RoleRule[]): readonly DesiredObject[] {
  const metadata = { name: clusterRoleName(cluster), labels: labelsOf(cluster) };
  return [
    objectOf(CLUSTER_ROLE, metadata, { rules }),
    objectOf(CLUSTER_ROLE_BINDING, metadata, {
      roleRef: roleRef(metadata.name),
      subjects: subjects(cluster),
    }),
  ];
}

function roleBinding(
  cluster: string,
  name: string,
  role: string,
  finalizers?: readonly string[],
): DesiredObject {
  const metadata = { name, namespace: cluster, labels: labelsOf(cluster), ...(finalizers && { finalizers }) };
  return objectOf(ROLE_BINDING, metadata, { roleRef: roleRef(role), subjects: subjects(cluster) });
}

function objectOf(kind: KindInfo, metadata: KubeObject['metadata'], content: object = {}): DesiredObject {
  return { kind, object: { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...content } };
}

function labelsOf(cluster: string): Readonly<Record<string, string>> {
  return { [CLUSTER_NAME_LABEL]: cluster };
}

function roleRef(name: string): object {
  return { apiGroup: CLUSTER_ROLE.group, kind: CLUSTER_ROLE.kind, name };
}

/** The second group is for authentication without certificates. */
function subjects(cluster: string): readonly object[] {
  return [clusterGroup(cluster), `open-cluster-management:${cluster}`].map((name) => ({
    kind: 'Group',
    apiGroup: CLUSTER_ROLE.group,
    name,
  }));
}

/** A rule of a ClusterRole (rbac.authorization.k8s.io/v1 PolicyRule). */
interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const CLUSTER_GROUP = 'cluster.open-cluster-management.io';
const ADDON_GROUP = 'addon.open-cluster-management.io';
const WORK_GROUP = 'work.open-cluster-management.io';

/**
 * The rights of the agents of an accepted cluster outside its namespace: renew certificates, and report on their own
 * ManagedCluster.
 */
export function acceptedRules(cluster: string): readonly RoleRule[] {
  return [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['create', 'get', 'list', 'watch'],
    },
    {
      apiGroups: [REGISTER_GROUP],
      resources: ['managedclusters/clientcertificates'],
      verbs: ['renew'],
    },
    {
      apiGroups: [CLUSTER_GROUP],
      resources: ['managedclusters'],
      resourceNames: [cluster],
      verbs: ['get', 'list', 'update', 'watch'],
    },
    {
      apiGroups: [CLUSTER_GROUP],
      resources: ['managedclusters/status'],
      resourceNames: [cluster],
      verbs: ['patch', 'update'],
    },
  ];
}

/** The rights of the agents of a denied cluster: read the ManagedCluster, to see that it is denied. */
function deniedRules(cluster: string): readonly RoleRule[] {
  return [
    {
      apiGroups: [CLUSTER_GROUP],
      resources: ['managedclusters'],
      resourceNames: [cluster],
      verbs: ['get', 'list', 'watch'],
    },
  ];
}

/** The rights of a registration agent in the namespace of its cluster. */
export const REGISTRATION_RULES: readonly RoleRule[] = [
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'list', 'watch', 'update'],
  },
  { apiGroups: [ADDON_GROUP], resources: ['managedclusteraddons'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [ADDON_GROUP], resources: ['managedclusteraddons/status'], verbs: ['patch', 'update'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
];

/** The rights of a work agent in the namespace of its cluster. */
export const WORK_RULES: readonly RoleRule[] = [
  {
    apiGroups: [WORK_GROUP],
    resources: ['manifestworks'],
    verbs: ['get', 'list', 'watch', 'update', 'patch'],
  },
  { apiGroups: [WORK_GROUP], resources: ['manifestworks/status'], verbs: ['patch', 'update'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
];
