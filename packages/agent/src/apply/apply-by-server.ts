import type { IgnoreField, ServerSideApplyConfig } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { isApplyConflict } from '../rules/applied/kube-failure.ts';
import { isShared } from '../rules/applied/ownership.ts';
import { takeOverFields } from '../rules/update/take-over-fields.ts';
import { withClaim } from '../rules/applied/claim.ts';
import { sha256 } from '@berth/runtime/sha256';
import { updateOwnerReference } from './apply-by-update.ts';
import { objectIdOf } from '../cluster/manifest-task.ts';
import { desiredDigest } from './apply-cache.ts';
import { AGENT_MANAGER } from '../rules/applied/agent-manager.ts';
import { type ApplyContext, readLive, type StrategyResult, withManagers } from './apply-context.ts';
import { removeIgnoredFields } from './ignore-fields.ts';

/**
 * Annotation with a digest of the last applied manifest with ignoreFields; an equal digest means
 * that drift is ignored.
 */
const HASH_ANNOTATION = 'open-cluster-management.io/config-spec-hash';

/**
 * Strategy ServerSideApply. The owner references are written by a separate patch, because other works share them. Until
 * then, a claim marks the object as ours.
 */
export async function applyByServer(context: ApplyContext): Promise<StrategyResult> {
  try {
    return await applyAndOwn(context);
  } catch (error) {
    if (!context.likelyNew || !isApplyConflict(error)) throw error;
    // It does exist, and the fields may be our own.
    return applyAndOwn({ ...context, likelyNew: false, fresh: true });
  }
}

async function applyAndOwn(context: ApplyContext): Promise<StrategyResult> {
  const config = context.strategy?.serverSideApply ?? {};
  const manifest = withoutNullTimes(withoutOwners(context.task.manifest)) as KubeObject;
  const ignored = config.ignoreFields ?? [];
  const result =
    ignored.length === 0
      ? await applyAll(context, manifest, config)
      : await applyWithIgnored(context, manifest, config);
  if (result.object === undefined) return result;
  const owners = await updateOwnerReference(context, result.object);
  const object = owners.object ?? result.object;
  if (result.wanted !== undefined)
    context.memory.remember(objectIdOf(context.task), result.wanted, object, {
      appliedAs: managerOf(config),
    });
  return { object, wrote: result.wrote || owners.wrote };
}

interface Applied extends StrategyResult {
  /** Recorded when the owner references are written, too. */
  readonly wanted?: string;
}

async function applyAll(
  context: ApplyContext,
  manifest: KubeObject,
  config: ServerSideApplyConfig,
): Promise<Applied> {
  const { force, fieldManager } = config;
  const wanted = desiredDigest('Apply', manifest, force ?? false, fieldManager ?? '', context.ownership);
  const live = context.likelyNew ? undefined : await readLive(context);
  if (live !== undefined && context.memory.isSettled(objectIdOf(context.task), wanted, live))
    return { object: live, wrote: false };
  const object = await send(context, manifest, config, live);
  return { object, wanted, wrote: object.metadata.resourceVersion !== live?.metadata.resourceVersion };
}

async function applyWithIgnored(
  context: ApplyContext,
  manifest: KubeObject,
  config: ServerSideApplyConfig,
): Promise<Applied> {
  const present = (config.ignoreFields ?? []).filter(isOnSpokePresent);
  const stripped = await removeIgnoredFields(manifest, present);
  const hash = sha256(canonicalJson(stripped));
  const live = await readLive(context);
  if (live === undefined)
    return { object: await send(context, withHash(manifest, hash), config, live), wrote: true };
  if (live.metadata.annotations?.[HASH_ANNOTATION] === hash) return { object: live, wrote: false };
  return { object: await send(context, withHash(stripped, hash), config, live), wrote: true };
}

/** Such a field is applied only when the object is created. */
function isOnSpokePresent(field: IgnoreField): boolean {
  return field.condition === 'OnSpokePresent';
}

/** @param before undefined if it does not exist yet, or was not read */
async function send(
  context: ApplyContext,
  manifest: KubeObject,
  config: ServerSideApplyConfig,
  before: KubeObject | undefined,
): Promise<KubeObject> {
  const { cluster, live, task } = context;
  const { reference, owned } = context.ownership;
  const hasOwner = (before?.metadata.ownerReferences ?? []).some(({ uid }) => uid === reference.uid);
  const sent = owned && !hasOwner ? withClaim(manifest, reference) : manifest;
  if (before !== undefined) await takeOver(context, before, config);
  const options = { fieldManager: managerOf(config), force: config.force ?? false };
  const object = await cluster.apply(task.kind, sent, options);
  live.written(task.kind, object, context.work);
  return object;
}

function managerOf({ fieldManager = '' }: ServerSideApplyConfig): string {
  return fieldManager === '' ? AGENT_MANAGER : fieldManager;
}

/**
 * Gives the fields that the agent wrote in another way to the manager that applies now. Not those of an object that works
 * share: another work may have written them, which is a conflict.
 */
async function takeOver(
  context: ApplyContext,
  before: KubeObject,
  config: ServerSideApplyConfig,
): Promise<void> {
  const { cluster, live, memory, task, work } = context;
  const { reference } = context.ownership;
  const manager = managerOf(config);
  if (memory.lastManager(objectIdOf(task)) === manager) return;
  const current = await withManagers(context, before);
  if (current === undefined || isShared(current.metadata, reference)) return;
  const { uid, resourceVersion, ownerReferences = [] } = current.metadata;
  const managedFields = takeOverFields(current, {
    manager,
    isOwned: ownerReferences.some((owner) => owner.uid === reference.uid),
    reach: await removeIgnoredFields(current, (config.ignoreFields ?? []).filter(isOnSpokePresent)),
  });
  if (managedFields === undefined) return;
  const patch = { metadata: { uid, resourceVersion, managedFields } };
  live.written(
    task.kind,
    await cluster.mergePatch(task.kind, task.key, patch, { fieldManager: AGENT_MANAGER }),
    work,
  );
}

function withHash(manifest: KubeObject, hash: string): KubeObject {
  const annotations = { ...manifest.metadata.annotations, [HASH_ANNOTATION]: hash };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

function withoutOwners(manifest: KubeObject): KubeObject {
  const { ownerReferences: _dropped, ...metadata } = manifest.metadata;
  return { ...manifest, metadata };
}

/** Go clients write `creationTimestamp: null` at every level. Applying it would raise the generation each time. */
function withoutNullTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => key !== 'creationTimestamp' || item !== null)
      .map(([key, item]) => [key, withoutNullTimes(item)]),
  );
}
