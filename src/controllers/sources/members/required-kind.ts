import { TransientError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import { formatLocation } from '@berth/runtime/problem/source-location';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { KubeApi } from '@berth/kube/model/kube-api';

/** The error code for an object whose kind the hub does not serve. */
export const NOT_SERVED = 'sync.kind';

/**
 * Resolves the resource of an object.
 * @throws TransientError `NOT_SERVED` while the hub does not serve it
 */
export async function requiredKind(api: KubeApi, object: KubeObject): Promise<KindInfo> {
  const info = await api.resolve(object.apiVersion, object.kind);
  if (info !== undefined) return info;
  throw new TransientError(`the hub does not serve ${object.apiVersion} ${object.kind}`, {
    code: NOT_SERVED,
    subject: formatRef(refOf(object)),
    hint: 'install its CustomResourceDefinition on the hub, or exclude the object from the source’s paths',
  });
}

/** The objects whose kind the hub does not serve, with their locations. */
export async function unservedAmong(
  api: KubeApi,
  sources: readonly Pick<SourceObject, 'object' | 'location'>[],
): Promise<readonly string[]> {
  const kinds = sources.map(({ object }) => api.resolve(object.apiVersion, object.kind));
  const infos = await Promise.all(kinds);
  return sources
    .filter((_source, at) => infos[at] === undefined)
    .map(({ object, location }) => `${formatRef(refOf(object))} (${formatLocation(location)})`);
}
