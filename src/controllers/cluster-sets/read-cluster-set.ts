import { InputError } from '../../core/errors.ts';
import type { ManagedClusterSet } from '../../core/model/kind/managed-cluster-set.ts';
import { MANAGED_CLUSTER_SET } from '../../core/model/kinds.ts';
import type { KubeApi } from '../../core/ports.ts';

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
