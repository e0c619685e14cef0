/**
 * Names that the hub, the agents and OCM's own controllers share. They are part of the protocol and must not change.
 * Source: open-cluster-management.io/ocm `pkg/registration`, open-cluster-management.io/api `cluster/v1`.
 */

/** Label of everything that belongs to one cluster on the hub: its namespace, lease, roles and certificate requests. */
export const CLUSTER_NAME_LABEL = 'open-cluster-management.io/cluster-name';
/** Label of a certificate request of an add-on. */
export const ADDON_NAME_LABEL = 'open-cluster-management.io/addon-name';
/** The Lease of an agent in the namespace of its cluster on the hub. Also the holder identity in the Lease. */
export const CLUSTER_LEASE = 'managed-cluster-lease';

/** On a ManagedCluster: its roles, bindings and works on the hub are not removed yet. */
export const API_RESOURCE_FINALIZER = 'cluster.open-cluster-management.io/api-resource-cleanup';
/** On a ManagedCluster: its add-ons and works are not deleted yet. */
export const RESOURCE_FINALIZER = 'cluster.open-cluster-management.io/resource-cleanup';
/** On the RoleBinding of the work agent: the agent still needs it to finish deletions. */
export const WORK_FINALIZER = 'cluster.open-cluster-management.io/manifest-work-cleanup';

/** On a ManagedCluster: when a rule accepted it (RFC 3339). Later changes are the user's decision. */
export const AUTO_ACCEPTED_ANNOTATION = 'open-cluster-management.io/automatically-accepted-on';
/** On an add-on or a work: smaller numbers are deleted first, 0 to 100. */
export const CLEANUP_PRIORITY_ANNOTATION = 'open-cluster-management.io/cleanup-priority';
/** Prefix of the annotations that an agent may set on its ManagedCluster. */
export const AGENT_ANNOTATION_PREFIX = 'agent.open-cluster-management.io/';
/** On a ManagedCluster, value `true`: the clock of the agent is not compared with that of the hub. */
export const SKIP_CLOCK_CHECK_ANNOTATION = 'registration.open-cluster-management.io/skip-clock-sync-check';

/** Taint of a cluster whose agent does not report, or has never reported. */
export const UNREACHABLE_TAINT = 'cluster.open-cluster-management.io/unreachable';
/** Taint of a cluster whose API server does not answer its agent. */
export const UNAVAILABLE_TAINT = 'cluster.open-cluster-management.io/unavailable';

/** Field manager of everything that Berth's registration controllers write on the hub. */
export const REGISTRATION_MANAGER = 'berth-registration';

/** API group for RBAC rules about registration. It has no objects. */
export const REGISTER_GROUP = 'register.open-cluster-management.io';
/** The signer of all client certificates of agents. */
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/** Secrets in the namespace of the agent: the bootstrap kubeconfig and the hub kubeconfig. */
export const BOOTSTRAP_SECRET = 'bootstrap-hub-kubeconfig';
export const HUB_KUBECONFIG_SECRET = 'hub-kubeconfig-secret';
export const AGENT_NAMESPACE = 'open-cluster-management-agent';
/** Where OCM's operators run; on the hub also the namespace of the bootstrap account. */
export const OPERATOR_NAMESPACE = 'open-cluster-management';

const PREFIX = 'system:open-cluster-management:';

/** Organization in the certificates of all agents. */
export const ALL_AGENTS_GROUP = `${PREFIX}managed-clusters`;

/** @param leaseDurationSeconds of the ManagedCluster; absent and 0 mean the default */
export function leaseSeconds(leaseDurationSeconds: number | undefined): number {
  return leaseDurationSeconds === undefined || leaseDurationSeconds <= 0
    ? DEFAULT_LEASE_SECONDS
    : leaseDurationSeconds;
}

const DEFAULT_LEASE_SECONDS = 60;

/** The identity of an agent: its cluster, and its name among the agents of that cluster. */
export interface AgentIdentity {
  readonly cluster: string;
  readonly agent: string;
}

/** The user of an agent: the common name of its certificate. */
export function agentUser({ cluster, agent }: AgentIdentity): string {
  return `${PREFIX}${cluster}:${agent}`;
}

/** The group of all agents of one cluster. The roles of the cluster are bound to it. */
export function clusterGroup(cluster: string): string {
  return `${PREFIX}${cluster}`;
}

/** The groups of an agent: the organizations of its certificate. Their order does not matter. */
export function agentGroups(cluster: string): readonly string[] {
  return [clusterGroup(cluster), ALL_AGENTS_GROUP];
}

/** Undefined if the user is not an agent of a cluster. Users of add-ons have more segments, so they are not. */
export function parseAgentUser(user: string): AgentIdentity | undefined {
  if (!user.startsWith(PREFIX)) return undefined;
  const [cluster = '', agent = '', ...more] = user.slice(PREFIX.length).split(':');
  return cluster === '' || agent === '' || more.length > 0 ? undefined : { cluster, agent };
}
