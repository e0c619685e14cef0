import { APPLIED_MANIFEST_WORK, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, OwnerReference } from '@berth/kube/model/object-meta';
import type { AppliedManifestWork, AppliedResource } from '@berth/ocm/kind/applied-manifest-work';
import { ConflictError, errorText, TransientError } from '@berth/runtime/errors';
import type { ManifestResult } from '../apply/apply-manifests.ts';
import type { LiveObjects } from '../cluster/live-objects.ts';
import {
  kindOfResource,
  sortedResources,
  untrackedResources,
  wasRecorded,
} from '../rules/applied/applied-resources.ts';
import { isRefusal } from '../rules/applied/kube-failure.ts';
import {
  AGENT_MANAGER,
  appliedWorkOwner,
  hasOwnerLabel,
  isAppliedWorkOwner,
  withoutLabelPatch,
} from '../rules/applied/ownership.ts';
import type { AgentState } from './agent-state.ts';
import { allAppliedResources, dropAppliedFinalizer, readApplied } from './applied-work.ts';

export interface CleanUpResult {
  /** Objects that are deleted but still exist (finalizers), or could not be reached. They must be checked again. */
  readonly pending: readonly AppliedResource[];
  /** Why some objects could not be cleaned up. They are also in `pending`. */
  readonly problems: readonly string[];
}

/**
 * Cleans up objects that a work no longer contains. Deletes an object only if it is proven to belong
 * to this work alone: the live object has the owner reference of this AppliedManifestWork (by uid)
 * or its owner label, and no reference of another one. The recorded uid is not used, because an agent
 * that was killed after it recreated the object has not recorded the new one. In doubt the object
 * stays.
 * @param stays objects that must not be deleted; they only lose the owner reference
 */
export async function cleanUpResources(
  cluster: KubeApi,
  resources: readonly AppliedResource[],
  owner: OwnerReference,
  stays: (resource: AppliedResource) => boolean = () => false,
): Promise<CleanUpResult> {
  const pending: AppliedResource[] = [];
  const problems: string[] = [];
  for (const resource of resources) {
    try {
      if (!(await cleanUpOne(cluster, resource, { owner, stays: stays(resource) }))) pending.push(resource);
    } catch (error) {
      pending.push(resource);
      problems.push(errorText(error));
    }
  }
  return { pending, problems };
}

interface CleanUp {
  readonly owner: OwnerReference;
  readonly stays: boolean;
}

/** An object that changes even more often stays for the next pass. */
const CONFLICT_TRIES = 5;

/** @returns whether the object is cleaned up */
async function cleanUpOne(cluster: KubeApi, resource: AppliedResource, cleanUp: CleanUp): Promise<boolean> {
  for (let attempt = 0; attempt < CONFLICT_TRIES; attempt++) {
    try {
      return await cleanUpOnce(cluster, resource, cleanUp);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  return false;
}

/**
 * @returns whether the object is cleaned up
 * @throws ConflictError when the object changed after it was read: another work may own it now
 */
async function cleanUpOnce(
  cluster: KubeApi,
  resource: AppliedResource,
  { owner, stays }: CleanUp,
): Promise<boolean> {
  const kind = kindOfResource(resource);
  const key = { namespace: resource.namespace ?? '', name: resource.name };
  const live = await getOrForget(cluster, resource);
  if (live === undefined) return true;
  const owners = live.metadata.ownerReferences ?? [];
  const owned = owners.some((reference) => reference.uid === owner.uid);
  if (!owned && !hasOwnerLabel(live.metadata, owner)) return true;
  const shared = owners.some((reference) => isAppliedWorkOwner(reference) && reference.uid !== owner.uid);
  if (shared || stays) {
    await leaveToOthers(cluster, kind, live, owner);
    return true;
  }
  if (live.metadata.deletionTimestamp !== undefined) return false;
  const { uid, resourceVersion } = live.metadata;
  await cluster.delete(kind, key, { uid, resourceVersion, propagationPolicy: 'Background' });
  // Most objects are deleted by now, so that no further pass is needed.
  return (await cluster.get(kind, key))?.metadata.uid !== uid;
}

/**
 * An intended object (without uid) that cannot be read counts as never created: created objects are
 * recorded, unless the agent is killed in between. Otherwise the work could not be deleted until
 * the right to read is granted.
 */
async function getOrForget(cluster: KubeApi, resource: AppliedResource): Promise<KubeObject | undefined> {
  try {
    return await cluster.get(kindOfResource(resource), {
      namespace: resource.namespace ?? '',
      name: resource.name,
    });
  } catch (error) {
    if (!wasRecorded(resource) && isRefusal(error, 'forbidden')) return undefined;
    throw error;
  }
}

async function leaveToOthers(
  cluster: KubeApi,
  kind: KindInfo,
  live: KubeObject,
  owner: OwnerReference,
): Promise<void> {
  const { uid, resourceVersion, namespace = '', name } = live.metadata;
  const ownerReferences = (live.metadata.ownerReferences ?? []).filter(
    (reference) => reference.uid !== owner.uid,
  );
  const patch = { metadata: { uid, resourceVersion, ownerReferences, ...withoutLabelPatch(live.metadata) } };
  try {
    await cluster.mergePatch(kind, { namespace, name }, patch, { fieldManager: AGENT_MANAGER });
  } catch (error) {
    if (!isRefusal(error, 'notfound')) throw error;
  }
}

export interface TrackedResources {
  readonly resources: readonly AppliedResource[];
  /** An object is still being deleted, or could not be read. */
  readonly unfinished: boolean;
  readonly problems: readonly string[];
}

interface TrackRequest {
  readonly cluster: KubeApi;
  readonly live: LiveObjects;
  readonly results: readonly ManifestResult[];
  readonly previous: readonly AppliedResource[];
  readonly owner: OwnerReference;
}

/**
 * Updates the list of applied resources and cleans up objects that were removed from the work. If a
 * manifest is not completely known (its kind cannot be resolved, its object cannot be read), it
 * throws, cleans up nothing and keeps the list.
 */
export async function trackResources(request: TrackRequest): Promise<TrackedResources> {
  const current: AppliedResource[] = [];
  for (const result of request.results) {
    const resource = await resourceOf(request, result);
    if (resource !== undefined) current.push(resource);
  }
  // An object that could not be applied and does not exist is still part of the work.
  const wanted = request.results.flatMap((result) => listedResource(result) ?? []);
  const stale = untrackedResources(request.previous, [...current, ...wanted]);
  const { pending, problems } = await cleanUpResources(request.cluster, stale, request.owner);
  return {
    resources: sortedResources([...current, ...pending]),
    unfinished: pending.length > 0,
    problems,
  };
}

/** Undefined if the object does not exist on the cluster. */
async function resourceOf(
  { live, previous }: TrackRequest,
  result: ManifestResult,
): Promise<AppliedResource | undefined> {
  const { task, outcome } = result;
  const listed = listedResource(result);
  if (listed === undefined) throw incomplete(task.meta.ordinal);
  const { namespace, name, resource } = listed;
  if (outcome.kind === 'applied' && outcome.object !== undefined)
    return { ...listed, uid: outcome.object.metadata.uid };
  const kind = task.ready ? task.kind : kindOfResource(listed);
  try {
    const object = await live.get({ kind, key: { namespace, name } });
    return object === undefined ? undefined : { ...listed, uid: object.metadata.uid };
  } catch (error) {
    const isUnknown = untrackedResources([listed], previous.filter(wasRecorded)).length > 0;
    if (isUnknown && isRefusal(error, 'forbidden')) return undefined;
    throw new TransientError(`cannot be read, so nothing is cleaned up: ${errorText(error)}`, {
      code: 'agent.track',
      subject: `${resource} ${name}`,
      cause: error,
    });
  }
}

/** The entry on the AppliedManifestWork, without a uid; undefined if the manifest is not resolved. */
function listedResource({ task }: ManifestResult) {
  const { group = '', version = '', resource = '', name = '', namespace = '' } = task.meta;
  if (version === '' || resource === '' || name === '') return undefined;
  return { group, version, resource, namespace, name };
}

function incomplete(ordinal: number): TransientError {
  return new TransientError('is not resolved, so nothing is cleaned up', {
    code: 'agent.track-incomplete',
    subject: `manifest ${ordinal}`,
  });
}

/**
 * Deletes an AppliedManifestWork, cleans up all of its objects, and removes the finalizer when they
 * are deleted. Every step is idempotent.
 * @param stays objects that must not be deleted
 * @returns whether it is deleted
 */
export async function cleanUpApplied(
  state: AgentState,
  applied: AppliedManifestWork,
  stays?: (resource: AppliedResource) => boolean,
): Promise<boolean> {
  const { cluster, log } = state.settings;
  const { name, uid = '' } = applied.metadata;
  if (applied.metadata.deletionTimestamp === undefined) {
    await cluster.delete(APPLIED_MANIFEST_WORK, { namespace: '', name }, { uid });
    const deleting = await readApplied(cluster, name);
    state.noteAppliedWork(name, deleting);
    if (deleting?.metadata.uid !== uid) return deleting === undefined;
    return cleanUpApplied(state, deleting, stays);
  }
  const owner = appliedWorkOwner(name, uid);
  const resources = allAppliedResources(applied);
  const { pending, problems } = await cleanUpResources(cluster, resources, owner, stays);
  for (const problem of problems) log.warn('an object cannot be cleaned up yet', { applied: name, problem });
  const current = await state.writeAppliedStatus(applied, { ...applied.status, appliedResources: pending });
  if (pending.length > 0) return false;
  await dropAppliedFinalizer(cluster, current);
  const left = await readApplied(cluster, name);
  state.noteAppliedWork(name, left);
  return left === undefined;
}
