import { InputError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';

/**
 * The objects of a kind in the namespace of a cluster. They are read from the hub itself, because they will be deleted
 * and a cache may lag behind. A kind that the hub does not serve has no objects.
 */
export async function objectsOfCluster(
  hub: KubeApi,
  kind: KindInfo,
  cluster: string,
): Promise<readonly KubeObject[]> {
  try {
    return (await hub.list(kind, { namespace: cluster })).items;
  } catch (error) {
    if (error instanceof InputError && error.code === 'kube.notfound') return [];
    throw error;
  }
}

export async function hasAnyOf(hub: KubeApi, kind: KindInfo, cluster: string): Promise<boolean> {
  return (await objectsOfCluster(hub, kind, cluster)).length > 0;
}
