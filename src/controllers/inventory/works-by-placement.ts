import type { IndexDefinition } from '../../adapters/kube/cache/object-cache.ts';
import { REPLICA_SET_LABEL, WORK_PLACEMENT_LABEL } from '../../core/model/kind/manifest-work-replica-set.ts';
import { MANIFEST_WORK } from '../../core/model/kinds.ts';

/** By placement and cluster, see `worksKey`. */
export const WORKS_BY_PLACEMENT: IndexDefinition = {
  kind: MANIFEST_WORK,
  keysOf: ({ metadata: { namespace, labels } }) => {
    // `NAMESPACE.NAME` of the replica set, whose namespace is that of its placements.
    const [owner] = (labels?.[REPLICA_SET_LABEL] ?? '').split('.', 1);
    const placement = labels?.[WORK_PLACEMENT_LABEL];
    return owner && placement && namespace ? worksKey(`${owner}/${placement}`, namespace) : undefined;
  },
};

/** @param placement `namespace/name` */
export function worksKey(placement: string, cluster: string): string {
  return `${placement} ${cluster}`;
}
