import { takesWork } from '@berth/ocm/kind/managed-cluster';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';

/**
 * Whether the hub itself says that the cluster exists and is not being deleted. Asked before something is made in the
 * namespace of the cluster: the caches of two kinds are not equally fresh, so a controller may see that clean-up deleted
 * an object before it sees why.
 */
export async function confirmTakesWork(hub: Pick<KubeApi, 'list'>, cluster: string): Promise<boolean> {
  return takesWork(await clusterOnHub(hub, cluster));
}

/** Whether the cluster exists and is being deleted. An object may be made before its cluster, so absent is false. */
export async function isBeingDeleted(hub: Pick<KubeApi, 'list'>, cluster: string): Promise<boolean> {
  const found = await clusterOnHub(hub, cluster);
  return found !== undefined && !takesWork(found);
}

/** Reads by a list, because the right to list clusters is needed anyway. */
async function clusterOnHub(hub: Pick<KubeApi, 'list'>, name: string): Promise<KubeObject | undefined> {
  return (await hub.list(MANAGED_CLUSTER, { fieldSelector: `metadata.name=${name}` })).items[0];
}
