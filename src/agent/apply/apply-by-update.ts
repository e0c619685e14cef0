import { InputError } from '../../core/errors.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { withFieldsOf } from '../../core/model/field-path.ts';
import { jsonEqual } from '../../core/model/json-equal.ts';
import { unclaimPatch } from '../../core/work/applied/claim.ts';
import { withOwner } from '../../core/work/applied/ownership.ts';
import { objectToCreate, planUpdate, sameMetadata } from '../../core/work/update/plan-update.ts';
import { sha256 } from '../../runtime/sha256.ts';
import { isAlreadyExists, isRefusal } from '../../core/work/applied/kube-failure.ts';
import { desiredDigest } from './apply-cache.ts';
import { objectContent } from '../../core/work/update/merge-content.ts';
import {
  differencesOutsideManifest,
  othersFieldsOutsideManifest,
} from '../../core/work/update/fields-outside-manifest.ts';
import { isUntouched } from '../../core/work/update/untouched.ts';
import { AGENT_MANAGER } from '../../core/work/applied/agent-manager.ts';
import { type ApplyContext, readLive, type StrategyResult } from './apply-context.ts';

/** Strategy Update: creates the object, or changes it to match the manifest by the rule of its kind. */
export async function applyByUpdate(context: ApplyContext): Promise<StrategyResult> {
  const { task, ownership, memory } = context;
  if (context.likelyNew) return createUnlessExists(context, applyByUpdate);
  const live = await readLive(context);
  if (live === undefined) return { object: await create(context), wrote: true };
  const { ordinal } = task.meta;
  const wanted = desiredDigest('Update', task.manifest, ownership);
  if (memory.isSettled(ordinal, wanted, live)) return { object: live, wrote: false };
  const plan = planUpdate(live, task.manifest, ownership, sha256);
  if (plan.action === 'none') return { object: live, wrote: false };
  if (plan.action === 'update' && (await isUnchangedSinceApply(context, plan.object))) {
    memory.remember(ordinal, wanted, live);
    return { object: live, wrote: false };
  }
  if (plan.action === 'recreate') return { object: await recreate(context, live), wrote: true };
  try {
    return await write(context, plan.object, live);
  } catch (error) {
    if (!isRefusal(error, 'invalid')) throw error;
    if (plan.recreateWhenInvalid) return { object: await recreate(context, live), wrote: true };
    return writeAroundOthers(context, plan.object, error);
  }
}

/**
 * Makes the object equal to the plan, except for fields that others set repeatedly. Changes of
 * other unnamed fields are remembered: if another client sets such a field again, it is left to
 * that client.
 */
async function write(
  { task, ownership, memory, cluster, live: watched, work }: ApplyContext,
  plan: KubeObject,
  live: KubeObject,
): Promise<StrategyResult> {
  const { ordinal } = task.meta;
  const wanted = withFieldsOf(plan, live, memory.leftFields(ordinal, live)) as KubeObject;
  const isUpToDate =
    sameMetadata(live, wanted.metadata) && jsonEqual(objectContent(live), objectContent(wanted));
  const object = isUpToDate ? live : await cluster.update(task.kind, wanted, { fieldManager: AGENT_MANAGER });
  watched.written(task.kind, object, work);
  const undone = differencesOutsideManifest(
    objectContent(live),
    objectContent(object),
    objectContent(wanted),
  );
  memory.remember(ordinal, desiredDigest('Update', task.manifest, ownership), object, undone);
  return { object, wrote: object.metadata.resourceVersion !== live.metadata.resourceVersion };
}

/**
 * Some fields that a controller adds cannot be removed, such as the volume of a bound claim. If the
 * server refuses the plan, it is tried again with the fields that others added.
 * @param refusal thrown again if others added no fields, or if that is refused, too
 */
async function writeAroundOthers(
  context: ApplyContext,
  plan: KubeObject,
  refusal: unknown,
): Promise<StrategyResult> {
  const { task, memory, cluster } = context;
  const live = await cluster.get(task.kind, task.key);
  const added =
    live === undefined ? [] : othersFieldsOutsideManifest(live, objectContent(plan), AGENT_MANAGER);
  if (live === undefined || added.length === 0) throw refusal;
  memory.leave(task.meta.ordinal, added);
  try {
    const { resourceVersion } = live.metadata;
    return await write(context, { ...plan, metadata: { ...plan.metadata, resourceVersion } }, live);
  } catch (error) {
    throw isRefusal(error, 'invalid') ? refusal : error;
  }
}

/**
 * After a restart: whether the object has all applied fields, and otherwise only defaults of the
 * API server and fields of others, which are left to them. Costs one read.
 */
async function isUnchangedSinceApply(context: ApplyContext, wanted: KubeObject): Promise<boolean> {
  const { task, memory, cluster, appliedBefore, live } = context;
  if (!appliedBefore || memory.hasEntry(task.meta.ordinal)) return false;
  const current = await cluster.get(task.kind, task.key);
  if (current === undefined) return false;
  live.written(task.kind, current, context.work);
  if (!sameMetadata(current, wanted.metadata) || !isUntouched(wanted, current)) return false;
  memory.leave(task.meta.ordinal, othersFieldsOutsideManifest(current, objectContent(wanted), AGENT_MANAGER));
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
  memory.remember(task.meta.ordinal, desiredDigest('Update', task.manifest, ownership), object);
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

/** Adds, updates or removes our owner reference, and removes the claim. */
export async function updateOwnerReference(context: ApplyContext, live: KubeObject): Promise<StrategyResult> {
  const { cluster, task, ownership } = context;
  const before = live.metadata.ownerReferences ?? [];
  const ownerReferences = withOwner(before, ownership.reference, ownership.owned);
  const unclaim = unclaimPatch(live.metadata);
  if (jsonEqual(ownerReferences, before) && unclaim.labels === undefined)
    return { object: live, wrote: false };
  const { uid, resourceVersion } = live.metadata;
  const patch = { metadata: { uid, resourceVersion, ownerReferences, ...unclaim } };
  const object = await cluster.mergePatch(task.kind, task.key, patch, { fieldManager: AGENT_MANAGER });
  context.live.written(task.kind, object, context.work);
  return { object, wrote: true };
}
