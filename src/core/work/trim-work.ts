import { REPLICA_SET_LABEL } from '../model/kind/manifest-work-replica-set.ts';
import type { ManifestWork } from '../model/kind/manifest-work.ts';
import type { KubeObject } from '../model/object-meta.ts';

/**
 * What the work controllers read of a ManifestWork, to be kept in a cache: manifests are most of its size. Of the works of replica sets
 * they read the whole spec: it is compared with what is wanted, parts of it stay on a cluster while a work is handed over to another
 * one, and an update sends all of it. Of other works they read `deleteOption` alone.
 */
export function trimWork(object: KubeObject): KubeObject {
  if (object.metadata.labels?.[REPLICA_SET_LABEL] !== undefined) return object;
  const { spec, ...rest } = object as unknown as ManifestWork;
  const deleteOption = spec?.deleteOption;
  return { ...rest, ...(deleteOption && { spec: { deleteOption } }) };
}
