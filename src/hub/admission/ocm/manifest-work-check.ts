import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, getOwn, objectAt, textAt } from '../../json/json-value.ts';
import { badRequest } from '../../wire/status-errors.ts';
import type { AdmissionCheck, AdmissionWrite } from '../../write/write-request.ts';
import { isWriteOf } from './is-write-of.ts';

const WORK_GROUP = 'work.open-cluster-management.io';

/**
 * As what OCM's webhook counts a work without executor: the agent's own service account, whose namespace the hub does not know.
 * Source: ocm `pkg/work/webhook/v1/manifestwork_validating.go`.
 */
const AGENT_ACCOUNT = { namespace: '', name: 'klusterlet-work-sa' };

/** What is wrong with the spec of a ManifestWork; given from outside, because the hub knows nothing of works. */
export type WorkValidator = (spec: JsonObject) => {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
};

/**
 * Who may leave the executor of a work out, and so have it applied with all the rights of the agent. `restricted`: users who
 * may `execute-as` the agent's account (OCM's feature gate NilExecutorValidating); `anyone`: all who may write works.
 */
export type WorksWithoutExecutor = 'restricted' | 'anyone';

interface ManifestWorkCheckOptions {
  readonly validate: WorkValidator;
  readonly withoutExecutor: WorksWithoutExecutor;
}

/**
 * Limits of works, and the right to work as another account. All refusals are 400, as on a real hub. The executor of a replica
 * set is checked as well, because a controller with more rights than the user makes works of its template.
 */
export function manifestWorkCheck({ validate, withoutExecutor }: ManifestWorkCheckOptions): AdmissionCheck {
  return (write) => {
    if (isWriteOf(write, WORK_GROUP, 'manifestworkreplicasets')) {
      requireExecutorRight(write, templateOf, withoutExecutor);
      return [];
    }
    if (!isWriteOf(write, WORK_GROUP, 'manifestworks')) return [];
    const { errors, warnings } = validate(objectAt(write.object, 'spec') ?? {});
    if (errors.length > 0) throw badRequest(errors.join('; '));
    requireExecutorRight(write, specOf, withoutExecutor);
    return warnings;
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

/** Asked when the executor changes, and when it goes: an old work keeps its executor through all other changes. */
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

/** OCM's webhook also refuses an executor without subject, by a crash that its caller reports as an error. */
function accountOf(spec: JsonObject | undefined): { readonly namespace: string; readonly name: string } {
  const account = objectAt(objectAt(objectAt(spec, 'executor'), 'subject'), 'serviceAccount');
  if (account === undefined) throw badRequest('executor service account can not be nil');
  return { namespace: textAt(account, 'namespace'), name: textAt(account, 'name') };
}
