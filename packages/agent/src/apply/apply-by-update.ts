import { InputError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { type FieldPath, withFieldsOf } from '@berth/kube/model/field-path';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { AGENT_MANAGER, withoutLabelPatch, withOwner } from '../rules/applied/ownership.ts';
import { objectToCreate, planUpdate, sameMetadata, objectContent } from '../rules/update/plan-update.ts';
import { sha256 } from '@berth/runtime/sha256';
import { isAlreadyExists, isRefusal } from '../rules/applied/kube-failure.ts';
import { objectIdOf } from '../cluster/manifest-task.ts';
import {
  desiredDigest,
  type ApplyContext,
  readLive,
  type StrategyResult,
  withManagers,
} from './apply-cache.ts';
import {
  assignedFields,
  differencesOutsideManifest,
  isUntouched,
  keepableFields,
  othersFieldsOutsideManifest,
} from '../rules/update/fields-outside-manifest.ts';

/** Strategy Update: creates the object, or changes it to match the manifest by the rule of its kind. */
export async function applyByUpdate(context: ApplyContext): Promise<StrategyResult> {
  const { task, ownership, memory } = context;
  if (context.likelyNew) return createUnlessExists(context, applyByUpdate);
  const live = await readLive(context);
  if (live === undefined) return { object: await create(context), wrote: true };
  const id = objectIdOf(task);
  const wanted = desiredDigest('Update', task.manifest, ownership);
  if (memory.isAsWritten(id, wanted, live)) return { object: live, wrote: false };
  const plan = planUpdate(live, task.manifest, ownership, sha256);
  if (plan.action === 'none') return { object: live, wrote: false };
  if (plan.action === 'recreate') return { object: await recreate(context, live), wrote: true };
  if (await isUnchangedSinceApply(context, plan.object, live)) {
    memory.remember(id, wanted, live);
    return { object: live, wrote: false };
  }
  try {
    return await write(context, plan.object, live);
  } catch (error) {
    if (!isRefusal(error, 'invalid')) throw error;
    if (plan.recreateWhenInvalid) return { object: await recreate(context, live), wrote: true };
    return writeAroundKept(context, plan.object, error);
  }
}

/**
 * Makes the object equal to the plan, except for fields that others set repeatedly. Changes of
 * other unnamed fields are remembered: if another client sets such a field again, it is left to
 * that client.
 * @param kept further fields that stay as they are, from now on
 */
async function write(
  { task, ownership, memory, cluster, live: watched, work }: ApplyContext,
  plan: KubeObject,
  live: KubeObject,
  kept: readonly FieldPath[] = [],
): Promise<StrategyResult> {
  const id = objectIdOf(task);
  const wanted = withFieldsOf(plan, live, [...memory.leftFields(id, live), ...kept]) as KubeObject;
  const isUpToDate =
    sameMetadata(live, wanted.metadata) && jsonEqual(objectContent(live), objectContent(wanted));
  const object = isUpToDate ? live : await cluster.update(task.kind, wanted, { fieldManager: AGENT_MANAGER });
  watched.written(task.kind, object, work);
  const undone = differencesOutsideManifest(
    objectContent(live),
    objectContent(object),
    objectContent(wanted),
  );
  memory.leave(id, kept);
  memory.remember(id, desiredDigest('Update', task.manifest, ownership), object, { undone });
  return { object, wrote: object.metadata.resourceVersion !== live.metadata.resourceVersion };
}

/**
 * Some fields cannot be removed: what a controller added, such as the volume of a bound claim, or a default that the
 * API server does not set again. If the server refuses the plan, it is tried again with the fields that the manifest
 * does not name.
 * @param refusal thrown again if there are no such fields, or if that is refused, too
 */
async function writeAroundKept(
  context: ApplyContext,
  plan: KubeObject,
  refusal: unknown,
): Promise<StrategyResult> {
  const { task, cluster } = context;
  const live = await cluster.get(task.kind, task.key);
  if (live === undefined) throw refusal;
  const { resourceVersion } = live.metadata;
  const current = { ...plan, metadata: { ...plan.metadata, resourceVersion } };
  for (const kept of keepableFields(live, objectContent(plan), AGENT_MANAGER)) {
    try {
      return await write(context, current, live, kept);
    } catch (error) {
      if (!isRefusal(error, 'invalid')) throw error;
    }
  }
  throw refusal;
}

/**
 * After a restart: whether the object has all applied fields, and otherwise only defaults of the API server and fields
 * of others, which are left to them. Fields that the server itself assigned stay in any case, because it refuses writes
 * without them. Costs at most one read.
 */
async function isUnchangedSinceApply(
  context: ApplyContext,
  wanted: KubeObject,
  live: KubeObject,
): Promise<boolean> {
  const { task, memory, appliedBefore } = context;
  const id = objectIdOf(task);
  if (memory.hasEntry(id)) return false;
  const current = await withManagers(context, live);
  if (current === undefined) return false;
  const content = objectContent(wanted);
  memory.leave(id, assignedFields(current, content));
  if (!appliedBefore || !sameMetadata(current, wanted.metadata) || !isUntouched(wanted, current))
    return false;
  memory.leave(id, othersFieldsOutsideManifest(current, content, AGENT_MANAGER));
  return true;
}

/** Strategy CreateOnly: creates a missing object. On an existing object, only the owner references are maintained. */
export async function applyByCreateOnly(context: ApplyContext): Promise<StrategyResult> {
  if (context.likelyNew) return createUnlessExists(context, applyByCreateOnly);
  const live = await readLive(context);
  if (live === undefined) return { object: await create(context), wrote: true };
  return updateOwnerReference(context, live);
}

async function createUnlessExists(
  context: ApplyContext,
  applyToExisting: (context: ApplyContext) => Promise<StrategyResult>,
): Promise<StrategyResult> {
  try {
    return { object: await create(context), wrote: true };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return applyToExisting({ ...context, likelyNew: false, fresh: true });
  }
}

async function create(context: ApplyContext): Promise<KubeObject> {
  const { task, ownership, cluster, memory } = context;
  const wanted = objectToCreate(task.manifest, ownership, sha256);
  const object = await cluster.create(task.kind, wanted, { fieldManager: AGENT_MANAGER });
  context.live.written(task.kind, object, context.work);
  memory.leave(objectIdOf(task), assignedFields(object, objectContent(wanted)));
  memory.remember(objectIdOf(task), desiredDigest('Update', task.manifest, ownership), object);
  return object;
}

/**
 * For fields that the API server cannot change: deletes the object, with its uid as precondition, and creates it again
 * in the same pass.
 */
async function recreate(context: ApplyContext, live: KubeObject): Promise<KubeObject> {
  if (!(await context.mayDelete()))
    throw new InputError('can only be changed by replacing it, but the executor has no right to delete it', {
      code: 'agent.recreate',
      subject: `${context.task.kind.kind} ${context.task.key.name}`,
    });
  await context.cluster.delete(context.task.kind, context.task.key, { uid: live.metadata.uid });
  return create(context);
}

/** Adds, updates or removes our owner reference, and removes the owner label. */
export async function updateOwnerReference(context: ApplyContext, live: KubeObject): Promise<StrategyResult> {
  const { cluster, task, ownership } = context;
  const before = live.metadata.ownerReferences ?? [];
  const ownerReferences = withOwner(before, ownership.reference, ownership.owned);
  const withoutLabel = withoutLabelPatch(live.metadata);
  if (jsonEqual(ownerReferences, before) && withoutLabel.labels === undefined)
    return { object: live, wrote: false };
  const { uid, resourceVersion } = live.metadata;
  const patch = { metadata: { uid, resourceVersion, ownerReferences, ...withoutLabel } };
  const object = await cluster.mergePatch(task.kind, task.key, patch, { fieldManager: AGENT_MANAGER });
  context.live.written(task.kind, object, context.work);
  return { object, wrote: true };
}
