import { TransientError } from '../../../core/errors.ts';
import type { KindInfo } from '../../../core/model/kinds.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import { formatRef, refOf } from '../../../core/model/object-ref.ts';
import { formatLocation } from '../../../core/model/source-location.ts';
import type { SourceObject } from '../../../core/model/source-object.ts';
import type { KubeApi } from '../../../core/ports.ts';

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
