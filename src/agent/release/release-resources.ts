import { ConflictError, errorText, TransientError } from '../../core/errors.ts';
import type { AppliedResource } from '../../core/model/kind/applied-manifest-work.ts';
import type { KubeObject, OwnerReference } from '../../core/model/object-meta.ts';
import type { KubeApi } from '../../core/ports.ts';
import { isClaimedBy, unclaimPatch } from '../../core/work/applied/claim.ts';
import type { KindInfo } from '../../core/model/kinds.ts';
import { kindOfResource, wasRecorded } from '../../core/work/applied/applied-resources.ts';
import { isAppliedWorkOwner } from '../../core/work/applied/ownership.ts';
import { AGENT_MANAGER } from '../../core/work/applied/agent-manager.ts';
import { isRefusal } from '../../core/work/applied/kube-failure.ts';

export interface ReleaseResult {
  /** Objects that are deleted but still exist (finalizers), or could not be reached. They must be checked again. */
  readonly pending: readonly AppliedResource[];
  /** Why some objects could not be released. They are also in `pending`. */
  readonly problems: readonly string[];
}

/**
 * Releases objects that a work no longer wants. An object is deleted only if it is proven to belong to this work alone:
 * the object was just read, and it carries the owner reference of this AppliedManifestWork (by uid) or its claim to
 * one, and no other owner reference. The recorded uid does not count, because an agent that crashed after creating the
 * object again has not recorded the new uid. In doubt, the object stays.
 * @param stays objects that must outlive the work: they only lose our owner reference
 */
export async function releaseResources(
  cluster: KubeApi,
  resources: readonly AppliedResource[],
  owner: OwnerReference,
  stays: (resource: AppliedResource) => boolean = () => false,
): Promise<ReleaseResult> {
  const pending: AppliedResource[] = [];
  const problems: string[] = [];
  for (const resource of resources) {
    try {
      if (!(await releaseOne(cluster, resource, { owner, stays: stays(resource) }))) pending.push(resource);
    } catch (error) {
      pending.push(resource);
      problems.push(errorText(error));
    }
  }
  return { pending, problems };
}

/** @returns true when the object no longer concerns the work */
async function releaseOne(
  cluster: KubeApi,
  resource: AppliedResource,
  { owner, stays }: { readonly owner: OwnerReference; readonly stays: boolean },
): Promise<boolean> {
  const kind = kindOfResource(resource);
  const key = { namespace: resource.namespace ?? '', name: resource.name };
  const live = await getOrForget(cluster, resource);
  if (live === undefined) return true;
  const owners = live.metadata.ownerReferences ?? [];
  const owned = owners.some((reference) => reference.uid === owner.uid);
  if (!owned && !isClaimedBy(live.metadata, owner)) return true;
  const shared = owners.some((reference) => isAppliedWorkOwner(reference) && reference.uid !== owner.uid);
  if (shared || stays) {
    await leaveToOthers(cluster, kind, live, owner);
    return true;
  }
  if (live.metadata.deletionTimestamp !== undefined) return false;
  try {
    await cluster.delete(kind, key, { uid: live.metadata.uid, propagationPolicy: 'Background' });
    // Most objects are gone at this point, which saves another pass over the work.
    return (await cluster.get(kind, key))?.metadata.uid !== live.metadata.uid;
  } catch (error) {
    // Another object has the name now, so ours is gone.
    if (error instanceof ConflictError) return true;
    throw error;
  }
}

/**
 * An object that was only intended (without a uid) and may not be read counts as never created. Created objects are
 * recorded, unless the agent crashes in between. If it were kept, the work could not end until somebody grants the
 * right.
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
  const patch = { metadata: { uid, resourceVersion, ownerReferences, ...unclaimPatch(live.metadata) } };
  try {
    await cluster.mergePatch(kind, { namespace, name }, patch, { fieldManager: AGENT_MANAGER });
  } catch (error) {
    if (isRefusal(error, 'notfound')) return;
    if (!(error instanceof ConflictError)) throw error;
    throw new TransientError('changed while our owner reference was removed', {
      code: 'agent.release',
      subject: `${kind.kind} ${name}`,
      cause: error,
    });
  }
}
