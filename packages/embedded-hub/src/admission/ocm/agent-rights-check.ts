import { isMaster } from '../../auth/rbac/authorizer.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { deepEqual, objectAt, textAt, withoutKey } from '../../json/json-value.ts';
import { forbidden } from '../../wire/status-errors.ts';
import type { AdmissionCheck } from '../../write/write-request.ts';
import type { UserInfo } from '../../wire/user-info.ts';

const WORK_GROUP = 'work.open-cluster-management.io';
/** A cluster's agents, and all agents: `O` of the certificates that OCM's registration asks for. */
const AGENT_GROUP = /^(system:)?open-cluster-management:[^:]+$/;
/** `system:open-cluster-management:CLUSTER:AGENT`, the `CN`. Add-on agents have more parts. */
const AGENT_NAME = /^system:open-cluster-management:[^:]+:[^:]+$/;
/** Metadata fields that an agent may change, and fields that every write changes. */
const AGENT_METADATA = ['finalizers', 'managedFields', 'resourceVersion'];

/**
 * An agent may change the status and the finalizers of its works, but not their spec. RBAC cannot
 * express this, because finalizers are written through the same endpoint as the spec. Agents are
 * recognized by the names that OCM's registration gives them. Writes to the status need no check,
 * since that endpoint changes nothing else.
 */
export const agentRightsCheck: AdmissionCheck = (write) => {
  const { definition } = write.ref;
  if (definition.group !== WORK_GROUP || definition.plural !== 'manifestworks') return [];
  if (write.subresource !== '' || !isAgent(write.user)) return [];
  if (
    write.operation === 'UPDATE' &&
    write.old !== undefined &&
    changesOnlyAgentFields(write.old, write.object)
  )
    return [];
  throw forbidden(
    definition,
    textAt(objectAt(write.object, 'metadata'), 'name'),
    `user ${JSON.stringify(write.user.name)} is the agent of a cluster: it may change the status and the finalizers of works, and nothing else`,
  );
};

function isAgent(user: UserInfo): boolean {
  if (isMaster(user)) return false;
  return AGENT_NAME.test(user.name) || user.groups.some((group) => AGENT_GROUP.test(group));
}

function changesOnlyAgentFields(old: JsonObject, object: JsonObject): boolean {
  return deepEqual(withoutAgentFields(old), withoutAgentFields(object));
}

function withoutAgentFields(work: JsonObject): JsonObject {
  const metadata = AGENT_METADATA.reduce(withoutKey, objectAt(work, 'metadata') ?? {});
  return { ...work, metadata };
}
