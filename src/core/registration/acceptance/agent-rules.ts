import { REGISTER_GROUP } from '@berth/ocm/registration/names';

/** A rule of a ClusterRole (rbac.authorization.k8s.io/v1 PolicyRule). */
export interface RoleRule {
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
export function deniedRules(cluster: string): readonly RoleRule[] {
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
