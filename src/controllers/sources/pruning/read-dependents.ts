import {
  apiVersionOf,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import { type ManifestWorkReplicaSet, REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import { type Dependents, mayCauseLosses } from '../../../core/sync/compute-deletion-losses.ts';
import { ownerLabelValue } from '../../../core/work/replica-set/replica-set-child.ts';

/** Up to this number of replica sets and clusters, their works are listed separately. Beyond it, all works are listed. */
const MAX_LISTS = 20;

/**
 * The dependents of objects that are about to be deleted; undefined if these can have none. Only
 * kinds that these objects can affect are listed. They are read from the hub and not from the cache
 * of the process, which may be behind: dependents that it does not show yet would be lost without
 * being counted.
 * @throws BerthError when any of them cannot be read; unknown is not treated as none
 */
export async function readDependents(
  api: KubeApi,
  objects: readonly KubeObject[],
): Promise<Dependents | undefined> {
  if (!objects.some(mayCauseLosses)) return undefined;
  const list = async <T>(kind: KindInfo, options: ListOptions = {}): Promise<readonly T[]> => {
    // A hub without the ManifestWork kind has no dependents of that kind.
    if ((await api.resolve(apiVersionOf(kind), kind.kind)) === undefined) return [];
    return (await api.list(kind, options)).items as unknown as readonly T[];
  };
  const has = (...kinds: readonly string[]): boolean => objects.some(({ kind }) => kinds.includes(kind));
  const deletesNamespaces = has('Namespace');
  const deletesSets = has('ManagedClusterSet', 'ManagedClusterSetBinding');
  const listIf = <T>(isNeeded: boolean, kind: KindInfo): Promise<readonly T[]> =>
    isNeeded ? list<T>(kind) : Promise.resolve([]);
  const [placements, decisions, clusters, clusterSets, bindings, replicaSets, works, addons] =
    await Promise.all([
      list<Dependents['placements'][number]>(PLACEMENT),
      listIf<Dependents['decisions'][number]>(
        deletesNamespaces || deletesSets || has('ManagedCluster', 'Placement'),
        PLACEMENT_DECISION,
      ),
      listIf<Dependents['clusters'][number]>(
        deletesNamespaces || deletesSets || has('ManagedCluster'),
        MANAGED_CLUSTER,
      ),
      listIf<Dependents['clusterSets'][number]>(deletesNamespaces || deletesSets, MANAGED_CLUSTER_SET),
      listIf<Dependents['bindings'][number]>(deletesNamespaces || deletesSets, MANAGED_CLUSTER_SET_BINDING),
      listIf<ManifestWorkReplicaSet>(
        deletesNamespaces || has('ManifestWorkReplicaSet'),
        MANIFEST_WORK_REPLICA_SET,
      ),
      worksOf(objects, (options) => list<Dependents['works'][number]>(MANIFEST_WORK, options)),
      listIf<Dependents['addons'][number]>(has('ClusterManagementAddOn'), MANAGED_CLUSTER_ADDON),
    ]);
  return { placements, decisions, clusters, clusterSets, bindings, replicaSets, works, addons };
}

type Works = Dependents['works'];

async function worksOf(
  objects: readonly KubeObject[],
  list: (options: ListOptions) => Promise<Works>,
): Promise<Works> {
  const asked = objects.flatMap(({ kind, metadata }): readonly ListOptions[] => {
    if (kind === 'ManifestWorkReplicaSet')
      return [{ labelSelector: `${REPLICA_SET_LABEL}=${ownerLabelValue(metadata)}` }];
    return kind === 'ManagedCluster' ? [{ namespace: metadata.name }] : [];
  });
  if (asked.length > MAX_LISTS || objects.some(({ kind }) => kind === 'Namespace')) return list({});
  const found = (await Promise.all(asked.map(list))).flat();
  // A work of a deleted replica set on a deleted cluster is in both lists.
  return [
    ...new Map(found.map((work) => [`${work.metadata.namespace}/${work.metadata.name}`, work])).values(),
  ];
}
