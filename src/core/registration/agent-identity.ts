const PREFIX = 'system:open-cluster-management:';

/** Organisation of the certificates of all agents of clusters. */
export const ALL_AGENTS_GROUP = `${PREFIX}managed-clusters`;

/** Who an agent is: the cluster that it speaks for, and which of the cluster's agents it is. */
export interface AgentIdentity {
  readonly cluster: string;
  readonly agent: string;
}

/** The user of an agent: the common name of its certificate. */
export function agentUser({ cluster, agent }: AgentIdentity): string {
  return `${PREFIX}${cluster}:${agent}`;
}

/** The group of all agents of one cluster: what the roles of the cluster are bound to. */
export function clusterGroup(cluster: string): string {
  return `${PREFIX}${cluster}`;
}

/** The groups of an agent: the organisations of its certificate. Their order has no meaning. */
export function agentGroups(cluster: string): readonly string[] {
  return [clusterGroup(cluster), ALL_AGENTS_GROUP];
}

/** Undefined: the user is no agent of a cluster. Users of add-ons have more segments, and are none. */
export function parseAgentUser(user: string): AgentIdentity | undefined {
  if (!user.startsWith(PREFIX)) return undefined;
  const [cluster = '', agent = '', ...more] = user.slice(PREFIX.length).split(':');
  return cluster === '' || agent === '' || more.length > 0 ? undefined : { cluster, agent };
}
