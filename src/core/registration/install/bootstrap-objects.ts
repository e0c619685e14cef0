import type { KubeObject } from '@berth/kube/model/object-meta';
import { OPERATOR_NAMESPACE } from '@berth/ocm/registration/names';

/** The account of clusters that have no certificate yet. */
export const BOOTSTRAP_ACCOUNT = {
  namespace: OPERATOR_NAMESPACE,
  name: 'agent-registration-bootstrap',
} as const;

const ROLE = 'open-cluster-management:bootstrap';
const RBAC = 'rbac.authorization.k8s.io';

/**
 * The objects that a hub needs so that clusters can ask to join: a namespace, an account, and its rights. The rights
 * are those of OCM, which allow the account to read ConfigMaps for the address and the authority of the hub.
 * Source: open-cluster-management.io/ocm `deploy/cluster-manager/chart`.
 */
export function bootstrapObjects(): readonly KubeObject[] {
  const { namespace, name } = BOOTSTRAP_ACCOUNT;
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: ROLE }, rules: RULES },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: `${ROLE}:agent-registration` },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: ROLE },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
}

const CLUSTER = 'cluster.open-cluster-management.io';
const RULES = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
    verbs: ['create', 'get', 'list', 'watch'],
  },
  { apiGroups: [CLUSTER], resources: ['managedclusters'], verbs: ['get', 'create', 'list', 'watch'] },
  { apiGroups: [CLUSTER], resources: ['managedclustersets/join'], verbs: ['create'] },
];
