import { InputError } from '@berth/runtime/errors';
import type { ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import { apiVersionOf, MANAGED_CLUSTER_SET_BINDING, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { readClusterSet } from './read-cluster-set.ts';
import { CLI_FIELD_MANAGER, type SetChange } from './set-change.ts';

/**
 * Allows placements of a namespace to select from a set, by a ManagedClusterSetBinding.
 *
 * @throws InputError before anything is written, when the set or the namespace is missing
 */
export async function planBinding(hub: KubeApi, set: string, namespace: string): Promise<SetChange> {
  await readClusterSet(hub, set);
  if ((await hub.get(NAMESPACE, { namespace: '', name: namespace })) === undefined)
    throw new InputError('the hub has no such namespace', {
      code: 'kube.notfound',
      subject: `Namespace ${namespace}`,
    });
  if ((await readBinding(hub, set, namespace)) !== undefined)
    return { line: `Clusterset ${set} is already bound to Namespace ${namespace}` };
  const binding = {
    apiVersion: apiVersionOf(MANAGED_CLUSTER_SET_BINDING),
    kind: MANAGED_CLUSTER_SET_BINDING.kind,
    metadata: { name: set, namespace },
    spec: { clusterSet: set },
  };
  return {
    line: `Clusterset ${set} is bound to Namespace ${namespace}`,
    apply: async () => void (await hub.create(MANAGED_CLUSTER_SET_BINDING, binding, CLI_FIELD_MANAGER)),
  };
}

/** Removes the binding. The set may be deleted already. */
export async function planUnbinding(hub: KubeApi, set: string, namespace: string): Promise<SetChange> {
  const binding = await readBinding(hub, set, namespace);
  if (binding === undefined) return { line: `Clusterset ${set} is not bound to Namespace ${namespace}` };
  const { name, uid } = binding.metadata;
  return {
    line: `Clusterset ${set} is unbound from Namespace ${namespace}`,
    apply: async () => void (await hub.delete(MANAGED_CLUSTER_SET_BINDING, { namespace, name }, { uid })),
  };
}

async function readBinding(
  hub: KubeApi,
  set: string,
  namespace: string,
): Promise<ManagedClusterSetBinding | undefined> {
  const binding = await hub.get(MANAGED_CLUSTER_SET_BINDING, { namespace, name: set });
  return binding as ManagedClusterSetBinding | undefined;
}
