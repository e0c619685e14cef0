import { MANAGED_CLUSTER_SET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import { InputError } from '@berth/runtime/errors';

/** One step of a command that changes a hub. */
export interface SetChange {
  /** A line for the user: what is changed, or why nothing is. */
  readonly line: string;
  /** Absent if nothing has to be done. */
  readonly apply?: () => Promise<void>;
}

export const CLI_FIELD_MANAGER = { fieldManager: 'berth-cli' } as const;

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
