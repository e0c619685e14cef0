import { InputError } from '@berth/runtime/errors';
import { apiVersionOf, MANAGED_CLUSTER_SET, MANAGED_CLUSTER_SET_BINDING } from '@berth/kube/model/kinds';
import { formatNameList } from '@berth/runtime/text/name-list';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { CLI_FIELD_MANAGER, type SetChange } from './set-change.ts';

/** OCM's registration controller creates these sets again. */
const PERMANENT_SETS = ['default', 'global'];

/** A set of the clusters that carry its label. */
export async function planCreation(hub: KubeApi, name: string): Promise<SetChange> {
  if ((await hub.get(MANAGED_CLUSTER_SET, { namespace: '', name })) !== undefined)
    return { line: `Clusterset ${name} already exists` };
  const set = {
    apiVersion: apiVersionOf(MANAGED_CLUSTER_SET),
    kind: MANAGED_CLUSTER_SET.kind,
    metadata: { name },
    spec: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } },
  };
  return {
    line: `Clusterset ${name} is created`,
    apply: async () => void (await hub.create(MANAGED_CLUSTER_SET, set, CLI_FIELD_MANAGER)),
  };
}

/**
 * Deletes a set that is not bound to any namespace. Its clusters keep their label.
 *
 * @throws InputError for a set that is bound, and for a set that every hub has
 */
export async function planDeletion(hub: KubeApi, name: string): Promise<SetChange> {
  if (PERMANENT_SETS.includes(name))
    throw new InputError('cannot be deleted: every hub creates this set again', {
      code: 'clusterset.standing',
      subject: `ManagedClusterSet ${name}`,
    });
  const set = await hub.get(MANAGED_CLUSTER_SET, { namespace: '', name });
  if (set === undefined) return { line: `Clusterset ${name} does not exist` };
  const { items } = await hub.list(MANAGED_CLUSTER_SET_BINDING);
  const bound = items
    .filter(({ metadata }) => metadata.name === name)
    .map(({ metadata }) => metadata.namespace ?? '');
  if (bound.length > 0)
    throw new InputError(`is still bound to ${formatNameList(bound.sort())}`, {
      code: 'clusterset.bound',
      subject: `ManagedClusterSet ${name}`,
      hint: `berth clusterset unbind ${name} --namespace ${bound[0] ?? ''}`,
    });
  return {
    line: `Clusterset ${name} is deleted`,
    apply: async () =>
      void (await hub.delete(MANAGED_CLUSTER_SET, { namespace: '', name }, { uid: set.metadata.uid })),
  };
}
