import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, getOwn, objectAt, textAt } from '../../json/json-value.ts';
import { badRequest } from '../../wire/status-errors.ts';
import type { AdmissionCheck, AdmissionWrite } from '../../write/write-request.ts';
import { isWriteOf } from './is-write-of.ts';

const WORK_GROUP = 'work.open-cluster-management.io';

/**
 * The account that OCM's webhook assumes for a work without executor: the agent's service account.
 * Source: ocm `pkg/work/webhook/v1/manifestwork_validating.go`.
 */
const AGENT_ACCOUNT = { namespace: '', name: 'klusterlet-work-sa' };

/**
 * Validates the spec of a ManifestWork. The caller provides it, because the hub does not depend on
 * `core/work`.
 */
export type WorkValidator = (spec: JsonObject) => {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
};

/**
 * Who may create a work without an executor, which the agent applies with all of its rights.
 * `restricted`: users who may `execute-as` the agent's account (OCM's feature gate
 * NilExecutorValidating); `anyone`: all who may write works.
 */
export type WorksWithoutExecutor = 'restricted' | 'anyone';

interface ManifestWorkCheckOptions {
  readonly validate: WorkValidator;
  readonly withoutExecutor: WorksWithoutExecutor;
}

/**
 * Checks the size of works, and the right to use their executor. All refusals are 400, as on a real
 * hub. The executor of a replica set is checked, too, because a controller with more rights than
 * the user creates the works.
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
