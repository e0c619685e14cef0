import { REPLICA_SET_LABEL } from '../model/kind/manifest-work-replica-set.ts';
import type { ManifestWork } from '../model/kind/manifest-work.ts';
import type { KubeObject } from '../model/object-meta.ts';

/**
 * Reduces a ManifestWork in the cache to the fields that the work controllers read, since manifests
 * are most of its size. Works of replica sets keep their spec, which is compared, handed over and
 * updated. Of other works only `deleteOption` is read.
 */
export function trimWork(object: KubeObject): KubeObject {
  if (object.metadata.labels?.[REPLICA_SET_LABEL] !== undefined) return object;
  const { spec, ...rest } = object as unknown as ManifestWork;
  const deleteOption = spec?.deleteOption;
  return { ...rest, ...(deleteOption && { spec: { deleteOption } }) };
}
