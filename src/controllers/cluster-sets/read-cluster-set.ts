import { InputError } from '@berth/runtime/errors';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import { MANAGED_CLUSTER_SET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';

/** @throws InputError when the hub has no set of this name */
export async function readClusterSet(hub: KubeApi, name: string): Promise<ManagedClusterSet> {
  const set = await hub.get(MANAGED_CLUSTER_SET, { namespace: '', name });
  if (set !== undefined) return set as ManagedClusterSet;
  throw new InputError('the hub has no such set', {
    code: 'kube.notfound',
    subject: `ManagedClusterSet ${name}`,
    hint: `create it with berth clusterset create ${name}`,
  });
}
