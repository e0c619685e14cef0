import { apiVersionOf, type KindInfo, MANIFEST_WORK_REPLICA_SET, PLACEMENT } from '../model/kinds.ts';
import type { ObjectMeta } from '../model/object-meta.ts';
import { objectIdentity } from '../model/object-ref.ts';
import type { Dependents } from './compute-deletion-losses.ts';

/**
 * The dependents that are left when other sources delete some of them.
 * @param gone see `objectIdentity`
 */
export function dependentsWithout<T extends Pick<Dependents, 'placements' | 'replicaSets'>>(
  dependents: T,
  gone: ReadonlySet<string> = new Set(),
): T {
  if (gone.size === 0) return dependents;
  const stays =
    (kind: KindInfo) =>
    ({ metadata }: { readonly metadata: Pick<ObjectMeta, 'namespace' | 'name'> }): boolean => {
      const { namespace = '', name } = metadata;
      return !gone.has(objectIdentity({ apiVersion: apiVersionOf(kind), kind: kind.kind, namespace, name }));
    };
  return {
    ...dependents,
    placements: dependents.placements.filter(stays(PLACEMENT)),
    replicaSets: dependents.replicaSets.filter(stays(MANIFEST_WORK_REPLICA_SET)),
  };
}
