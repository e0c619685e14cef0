import type { KubeObject } from '@berth/kube/model/object-meta';
import { APPLY_SET_PART_OF_LABEL } from './apply-set.ts';
import { PRUNE_ANNOTATION } from './applied/departure.ts';

/**
 * What most of the members of a source on a hub are read for: the name, the version, whether it is being deleted, and
 * the label and annotation that say whose it is and whether it may be deleted. It has a part of the size of most objects.
 */
export function memberHead({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, labels, annotations } = metadata;
  const set = labels?.[APPLY_SET_PART_OF_LABEL];
  const prune = annotations?.[PRUNE_ANNOTATION];
  return {
    apiVersion,
    kind,
    metadata: {
      ...{ name, namespace, uid, resourceVersion, deletionTimestamp },
      ...(set !== undefined && { labels: { [APPLY_SET_PART_OF_LABEL]: set } }),
      ...(prune !== undefined && { annotations: { [PRUNE_ANNOTATION]: prune } }),
    },
  };
}
