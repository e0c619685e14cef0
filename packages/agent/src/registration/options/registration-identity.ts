import { randomBytes, randomUUID } from 'node:crypto';
import { InputError } from '@berth/runtime/errors';
import { ALL_AGENTS_GROUP, type AgentIdentity, clusterGroup } from '@berth/ocm/registration/agent-identity';

const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** A longer name, or one with a colon, could not be read back from a certificate. */
const AGENT_ID = /^[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;

/** The sources of the names, in order of precedence: given, stored, random. */
export interface IdentitySources {
  readonly clusterName: string | undefined;
  readonly agentId: string | undefined;
  readonly keptClusterName: string | undefined;
  readonly keptAgentId: string | undefined;
}

/**
 * The identity of the agent.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/options.go` (getOrGenerateClusterAgentID).
 * @throws InputError for names that no hub accepts
 */
export function registrationIdentity(sources: IdentitySources): AgentIdentity {
  const cluster = sources.clusterName || sources.keptClusterName?.trim() || randomUUID();
  const agent = sources.agentId || sources.keptAgentId?.trim() || randomBytes(4).toString('hex').slice(0, 5);
  if (!CLUSTER_NAME.test(cluster))
    throw new InputError(
      `is ${JSON.stringify(cluster)}, expected at most 63 of a-z, 0-9 and -, with a letter or digit at both ends`,
      { code: 'agent.cluster-name', subject: 'cluster name', hint: 'it becomes a namespace on the hub' },
    );
  if (clusterGroup(cluster) === ALL_AGENTS_GROUP)
    throw new InputError(`is ${cluster}, whose group would be that of all agents; expected another`, {
      code: 'agent.cluster-name',
      subject: 'cluster name',
    });
  if (!AGENT_ID.test(agent))
    throw new InputError(
      `is ${JSON.stringify(agent)}, expected at most 63 letters, digits and -._, with a letter or digit at both ends`,
      {
        code: 'agent.agent-id',
        subject: 'agent id',
        hint: 'it becomes part of the name in the certificate',
      },
    );
  return { cluster, agent };
}
