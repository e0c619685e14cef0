import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import { REPLICA_SET_LABEL, WORK_PLACEMENT_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';

/** By placement and cluster; see `worksKey`. */
export const WORKS_BY_PLACEMENT: IndexDefinition = {
  kind: MANIFEST_WORK,
  keysOf: ({ metadata }) => {
    const placement = placementOfWork(metadata);
    const { namespace } = metadata;
    return placement && namespace ? worksKey(placement, namespace) : undefined;
  },
};

/** `namespace/name` of the placement that a work of a replica set is made for. */
export function placementOfWork({ labels }: Pick<ObjectMeta, 'labels'>): string | undefined {
  // The label is `NAMESPACE.NAME` of the replica set, which has the same namespace as its placements.
  const [owner] = (labels?.[REPLICA_SET_LABEL] ?? '').split('.', 1);
  const placement = labels?.[WORK_PLACEMENT_LABEL];
  return owner && placement ? `${owner}/${placement}` : undefined;
}

/** @param placement `namespace/name` */
export function worksKey(placement: string, cluster: string): string {
  return `${placement} ${cluster}`;
}
