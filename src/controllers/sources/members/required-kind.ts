import { TransientError } from '../../../core/errors.ts';
import type { KindInfo } from '../../../core/model/kinds.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import { formatRef, refOf } from '../../../core/model/object-ref.ts';
import type { KubeApi } from '../../../core/ports.ts';

/** Code of the error about an object whose kind the hub does not serve. */
export const NOT_SERVED = 'sync.kind';

/** The resource of an object; TransientError `NOT_SERVED` while the hub does not serve it. */
export async function requiredKind(api: KubeApi, object: KubeObject): Promise<KindInfo> {
  const info = await api.resolve(object.apiVersion, object.kind);
  if (info !== undefined) return info;
  throw new TransientError(`the hub does not serve ${object.apiVersion} ${object.kind}`, {
    code: NOT_SERVED,
    subject: formatRef(refOf(object)),
    hint: 'install its CustomResourceDefinition on the hub, or take the object out of the source’s paths',
  });
}
