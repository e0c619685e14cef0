import { InputError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import {
  type Installer,
  isInstalledBy,
  labelInstalled,
} from '../../core/registration/install/installed-object.ts';
import { sleep } from '@berth/runtime/loop/sleep';

const FIELD_MANAGER = 'berth-install';
/** The API server needs some moments before it serves a new CustomResourceDefinition. */
const RECHECK_MS = 200;
const MAX_CHECKS = 50;

export interface Installation {
  readonly api: KubeApi;
  readonly installer: Installer;
  readonly clock: Clock;
  /** Called with a line for users about each thing that was done. */
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Writes objects in their order, and reports how many were written. An object of another owner with the same name is
 * left as it is and reported. Berth's own existing object gets the fields that differ.
 * @throws InputError for a kind that the server does not serve; the errors of the API
 */
export async function applyObjects(
  installation: Installation,
  objects: readonly KubeObject[],
): Promise<void> {
  const counts = { created: 0, changed: 0 };
  for (const object of objects) {
    const done = await applyObject(installation, object);
    if (done !== undefined) counts[done] += 1;
  }
  for (const [what, count] of Object.entries(counts))
    if (count > 0) installation.report(`${String(count)} ${count === 1 ? 'object' : 'objects'} ${what}`);
}

/** @returns undefined if nothing was written */
async function applyObject(
  installation: Installation,
  object: KubeObject,
): Promise<'created' | 'changed' | undefined> {
  const { api, installer, report } = installation;
  const kind = await servedKind(installation, object);
  const { namespace = '', name } = object.metadata;
  const before = await api.get(kind, { namespace, name });
  if (before?.metadata.deletionTimestamp !== undefined)
    throw new InputError('is being deleted, expected it to exist or to be gone', {
      code: 'install.deleting',
      subject: titleOf(object),
      hint: 'try again when it is gone',
    });
  if (before !== undefined && !isInstalledBy(before, installer)) {
    report(`${titleOf(object)} exists already, and is not changed`);
    return undefined;
  }
  const wanted = labelInstalled(object, installer);
  const after = await api.apply(kind, wanted, { fieldManager: FIELD_MANAGER, force: true });
  if (before === undefined) return 'created';
  return before.metadata.resourceVersion === after.metadata.resourceVersion ? undefined : 'changed';
}

async function servedKind({ api, clock, signal }: Installation, object: KubeObject): Promise<KindInfo> {
  for (let check = 1; ; check += 1) {
    const kind = await api.resolve(object.apiVersion, object.kind);
    if (kind !== undefined) return kind;
    if (check === MAX_CHECKS || signal.aborted)
      throw new InputError(`the server has no kind ${object.kind} of ${object.apiVersion}`, {
        code: 'install.kind',
        subject: titleOf(object),
      });
    await sleep(clock, RECHECK_MS, signal);
  }
}

/**
 * Deletes those of the objects that the installer wrote, in reverse order.
 * @returns how many
 */
export async function deleteObjects(
  { api, installer, report }: Installation,
  objects: readonly Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>[],
): Promise<number> {
  let count = 0;
  for (const object of [...objects].reverse()) {
    const kind = await api.resolve(object.apiVersion, object.kind);
    if (kind === undefined) continue;
    const { namespace = '', name } = object.metadata;
    const there = await api.get(kind, { namespace, name });
    if (there === undefined || !isInstalledBy(there, installer)) continue;
    const { uid } = there.metadata;
    if (await api.delete(kind, { namespace, name }, { uid, propagationPolicy: 'Background' })) count += 1;
  }
  if (count > 0) report(`${String(count)} ${count === 1 ? 'object' : 'objects'} deleted`);
  return count;
}

function titleOf({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  const { namespace, name } = metadata;
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
