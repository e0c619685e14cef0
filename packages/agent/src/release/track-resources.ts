import { errorText, TransientError } from '@berth/runtime/errors';
import type { AppliedResource } from '@berth/ocm/kind/applied-manifest-work';
import {
  kindOfResource,
  sortedResources,
  untrackedResources,
  wasRecorded,
} from '../rules/applied/applied-resources.ts';
import { isRefusal } from '../rules/applied/kube-failure.ts';
import type { OwnerReference } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { ManifestResult } from '../apply/apply-manifests.ts';
import type { LiveObjects } from '../cluster/live-objects.ts';
import { releaseResources } from './release-resources.ts';

export interface TrackedResources {
  readonly resources: readonly AppliedResource[];
  /** An object is still being deleted, or could not be read. */
  readonly unfinished: boolean;
  readonly problems: readonly string[];
}

export interface TrackRequest {
  readonly cluster: KubeApi;
  readonly live: LiveObjects;
  readonly results: readonly ManifestResult[];
  readonly previous: readonly AppliedResource[];
  readonly owner: OwnerReference;
}

/**
 * Updates the list of applied resources and releases objects that were removed from the work. If a
 * manifest is not completely known (its kind cannot be resolved, its object cannot be read), it
 * throws, releases nothing and keeps the list.
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
  const { pending, problems } = await releaseResources(request.cluster, stale, request.owner);
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
