import { validateWorkSpec } from '@berth/agent/rules/manifests/validate-work';
import { isMaster } from '@berth/embedded-hub/auth/rbac/authorizer';
import {
  deepEqual,
  getOwn,
  type JsonObject,
  type JsonValue,
  objectAt,
  textAt,
  withoutKey,
} from '@berth/embedded-hub/json/json-value';
import { badRequest, forbidden } from '@berth/embedded-hub/wire/status-errors';
import type { UserInfo } from '@berth/embedded-hub/wire/user-info';
import type { AdmissionCheck, AdmissionWrite } from '@berth/embedded-hub/write/write-request';
import { isWriteOf, ocmChecks } from './cluster-checks.ts';

const WORK_GROUP = 'work.open-cluster-management.io';

export interface HubAdmissionOptions {
  /** The users who may write works without an executor. Default: `restricted`. */
  readonly withoutExecutor?: WorksWithoutExecutor | undefined;
  /** False if OCM's own webhooks check its kinds. What agents may do with works is always checked. */
  readonly ocm?: boolean | undefined;
}

/** All checks of an embedded hub on OCM's kinds: clusters, sets, bindings and works. */
export function hubAdmission({
  withoutExecutor = 'restricted',
  ocm = true,
}: HubAdmissionOptions = {}): readonly AdmissionCheck[] {
  if (!ocm) return [agentRightsCheck];
  return [agentRightsCheck, ...ocmChecks, manifestWorkCheck(withoutExecutor)];
}

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

/**
 * The account that OCM's webhook assumes for a work without executor: the agent's service account.
 * Source: ocm `pkg/work/webhook/v1/manifestwork_validating.go`.
 */
const AGENT_ACCOUNT = { namespace: '', name: 'klusterlet-work-sa' };

/**
 * Who may create a work without an executor, which the agent applies with all of its rights.
 * `restricted`: users who may `execute-as` the agent's account (OCM's feature gate
 * NilExecutorValidating); `anyone`: all who may write works.
 */
type WorksWithoutExecutor = 'restricted' | 'anyone';

/**
 * Checks the size of works, and the right to use their executor. All refusals are 400, as on a real
 * hub. The executor of a replica set is checked, too, because a controller with more rights than
 * the user creates the works.
 */
function manifestWorkCheck(withoutExecutor: WorksWithoutExecutor): AdmissionCheck {
  return (write) => {
    if (isWriteOf(write, WORK_GROUP, 'manifestworkreplicasets')) {
      requireExecutorRight(write, templateOf, withoutExecutor);
      return [];
    }
    if (!isWriteOf(write, WORK_GROUP, 'manifestworks')) return [];
    const problems = validateWorkSpec(objectAt(write.object, 'spec') ?? {});
    const texts = (severity: 'error' | 'warning'): readonly string[] =>
      problems.filter((problem) => problem.severity === severity).map((problem) => problem.message);
    const errors = texts('error');
    if (errors.length > 0) throw badRequest(errors.join('; '));
    requireExecutorRight(write, specOf, withoutExecutor);
    return texts('warning');
  };
}

type SpecOf = (object: JsonObject | undefined) => JsonObject | undefined;

function specOf(work: JsonObject | undefined): JsonObject | undefined {
  return objectAt(work, 'spec');
}

function templateOf(replicaSet: JsonObject | undefined): JsonObject | undefined {
  return objectAt(specOf(replicaSet), 'manifestWorkTemplate');
}

function executorIn(spec: JsonObject | undefined): JsonValue | undefined {
  return getOwn(spec ?? {}, 'executor') ?? undefined;
}

/**
 * Checked when the executor changes or is removed; other changes of a work do not need the right.
 */
function requireExecutorRight(
  write: AdmissionWrite,
  specIn: SpecOf,
  withoutExecutor: WorksWithoutExecutor,
): void {
  const executor = executorIn(specIn(write.object));
  if (write.operation === 'UPDATE' && deepEqual(executor, executorIn(specIn(write.old)))) return;
  if (executor === undefined && withoutExecutor === 'anyone') return;
  const { namespace, name } = executor === undefined ? AGENT_ACCOUNT : accountOf(specIn(write.object));
  const home = textAt(objectAt(write.object, 'metadata'), 'namespace');
  const allowed = write.can({
    verb: 'execute-as',
    group: WORK_GROUP,
    resource: 'manifestworks',
    namespace: home,
    name: `system:serviceaccount:${namespace}:${name}`,
  });
  if (allowed) return;
  throw badRequest(
    `user ${write.user.name} cannot manipulate the Manifestwork with executor ${namespace}/${name} in namespace ${home}`,
  );
}

/**
 * OCM's webhook also rejects an executor without subject: it panics, which the API server reports
 * as an error.
 */
function accountOf(spec: JsonObject | undefined): { readonly namespace: string; readonly name: string } {
  const account = objectAt(objectAt(objectAt(spec, 'executor'), 'subject'), 'serviceAccount');
  if (account === undefined) throw badRequest('executor service account can not be nil');
  return { namespace: textAt(account, 'namespace'), name: textAt(account, 'name') };
}
