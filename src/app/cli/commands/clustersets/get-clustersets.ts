import { listClusterSets } from '../../../../core/listing/list-cluster-sets.ts';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import { MANAGED_CLUSTER_SET, MANAGED_CLUSTER_SET_BINDING } from '@berth/kube/model/kinds';
import { getCommand } from '../objects/get-command.ts';

export const getClusterSetsCommand = getCommand({
  plural: 'clustersets',
  aliases: ['clusterset'],
  describe: async (hub, object) =>
    (await import('../objects/describe-sections.ts')).clusterSetSections(hub, object),
  kinds: [MANAGED_CLUSTER_SET, MANAGED_CLUSTER_SET_BINDING],
  description:
    'list ManagedClusterSets, the namespaces that they are bound to, and how many clusters they have',
  examples: ['clustersets', 'clustersets default -o yaml'],
  read: async (hub, _flags, selection) => {
    const [sets, bindings] = await Promise.all([
      hub.list(MANAGED_CLUSTER_SET, selection),
      hub.list(MANAGED_CLUSTER_SET_BINDING),
    ]);
    return {
      objects: sets.items,
      list: (objects) =>
        listClusterSets(
          objects as readonly ManagedClusterSet[],
          bindings.items as unknown as readonly ManagedClusterSetBinding[],
        ),
    };
  },
});
