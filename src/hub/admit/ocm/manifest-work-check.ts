import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, getOwn, objectAt, textAt } from '../../json/json-value.ts';
import { badRequest } from '../../status/status-errors.ts';
import type { AdmissionCheck, AdmissionWrite } from '../../write/write-request.ts';
import { isWriteOf } from '../ocm-checks.ts';

const WORK_GROUP = 'work.open-cluster-management.io';

/** What is wrong with the spec of a ManifestWork; given from outside, because the hub knows nothing of works. */
export type WorkValidator = (spec: JsonObject) => {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
};

/** Limits of works, and the right to work as somebody else. All refusals are 400, as on a real hub. */
export function manifestWorkCheck(validate: WorkValidator): AdmissionCheck {
  return (write) => {
    if (!isWriteOf(write, WORK_GROUP, 'manifestworks')) return [];
    const { errors, warnings } = validate(objectAt(write.object, 'spec') ?? {});
    if (errors.length > 0) throw badRequest(errors.join('; '));
    requireExecutorRight(write);
    return warnings;
  };
}

function executorOf(work: JsonObject | undefined): JsonValue | undefined {
  return getOwn(objectAt(work, 'spec') ?? {}, 'executor');
}

function requireExecutorRight(write: AdmissionWrite): void {
  const executor = executorOf(write.object);
  if (executor === undefined || deepEqual(executor, executorOf(write.old))) return;
  const account = objectAt(
    objectAt(objectAt(objectAt(write.object, 'spec'), 'executor'), 'subject'),
    'serviceAccount',
  );
  const [namespace, name] = [textAt(account, 'namespace'), textAt(account, 'name')];
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
