import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';

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
