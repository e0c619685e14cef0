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

/** The connection to a server. */
export interface ServerEntry {
  readonly server: string;
  /** Base64. Absent: the authorities that the machine trusts are used. */
  readonly caData?: string | undefined;
  readonly proxyUrl?: string | undefined;
}

/** Names of the entries. The agent keeps the name of the cluster entry. */
export interface EntryNames {
  readonly cluster: string;
  readonly user: string;
  readonly context: string;
}

/** The same names as in the bootstrap kubeconfig that OCM's installer writes. */
export const BOOTSTRAP_ENTRIES: EntryNames = { cluster: 'hub', user: 'bootstrap', context: 'bootstrap' };

/** A kubeconfig for one user with a token, as a value. It is written as JSON, which is valid YAML. */
export function tokenKubeconfig(names: EntryNames, entry: ServerEntry, token: string): object {
  const { server, caData, proxyUrl } = entry;
  const cluster = {
    server,
    ...(caData !== undefined && { 'certificate-authority-data': caData }),
    ...(proxyUrl !== undefined && { 'proxy-url': proxyUrl }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: names.cluster, cluster }],
    users: [{ name: names.user, user: { token } }],
    contexts: [{ name: names.context, context: { cluster: names.cluster, user: names.user } }],
    'current-context': names.context,
  };
}

/** What a cluster needs to join. */
export interface JoinTicket {
  /** The token of the bootstrap account. */
  readonly token: string;
  /** URL of the hub's API server. */
  readonly server: string;
  /**
   * Hashes of the public keys of its authorities, each `sha256:` and 64 digits. Empty if the machines trust the hub.
   */
  readonly caHashes: readonly string[];
}

/** The user replaces it. OCM's tool prints `<cluster_name>`, which a shell reads as a redirection. */
const NAME_TO_REPLACE = 'CLUSTER_NAME';

/** The last line below the printed command. */
export const REPLACE_THE_NAME = `Replace ${NAME_TO_REPLACE} with the name of the cluster, for example cluster1.`;

/** The command to run on a cluster; the user adds the name of the cluster. It waits until the agent has asked the hub. */
export function joinCommand({ token, server, caHashes }: JoinTicket): string {
  const pins = caHashes.map((hash) => ` --discovery-token-ca-cert-hash ${hash}`).join('');
  return `berth join --hub-token ${token} --hub-apiserver ${server}${pins} --wait --cluster-name ${NAME_TO_REPLACE}`;
}

/** The output for programs. Source of the first keys: open-cluster-management.io/clusteradm `pkg/cmd/get/token`. */
export function joinTicketValue({ token, server, caHashes }: JoinTicket): object {
  return { 'hub-token': token, 'hub-apiserver': server, 'discovery-token-ca-cert-hashes': caHashes };
}
