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
  /** Deleted but still there (finalizers), or not reached: to be looked at again. */
  readonly pending: readonly AppliedResource[];
  /** Why some could not be released; they are among `pending`. */
  readonly problems: readonly string[];
}

/**
 * Releases objects that a work no longer wants. Deletes only what is proven to be ours alone: the object that was just read
 * carries the owner reference of this very AppliedManifestWork (by uid), or its claim to one, and the reference of no other. The
 * uid recorded with it does not count: an agent that died after it made the object again has not recorded the new one. Anything
 * unsure stays.
 * @param stays objects that are to outlive the work: they only lose our reference
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

/** @returns true when the object is none of the work's business any more */
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
    // Most objects are gone by now, and then the work need not be looked at once more.
    return (await cluster.get(kind, key))?.metadata.uid !== live.metadata.uid;
  } catch (error) {
    // Another object has the name by now: ours is gone.
    if (error instanceof ConflictError) return true;
    throw error;
  }
}

/**
 * What was only intended (it has no uid) and may not even be read counts as never created: what is created is recorded,
 * unless the agent dies in between. Were it kept, its work could not end before somebody grants the right.
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
