import { InputError } from '../../core/errors.ts';
import type { KindInfo } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { KubeApi } from '../../core/ports.ts';

/**
 * The objects of a kind in the namespace of a cluster, from the hub itself: deletions follow from the answer, and a cache may be behind.
 * A kind that the hub does not serve has none.
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
