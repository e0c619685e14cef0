const PREFIX = 'system:open-cluster-management:';

/** Organization in the certificates of all agents. */
export const ALL_AGENTS_GROUP = `${PREFIX}managed-clusters`;

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
