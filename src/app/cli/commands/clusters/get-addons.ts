import { listAddons, type ListedAddon } from '../../../../core/listing/list-addons.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import { clusterNames } from '../../flags/option-values.ts';
import { getCommand, type GetFlags } from '../objects/get-command.ts';

interface GetAddonsFlags extends GetFlags {
  readonly clusters?: string;
}

export const getAddonsCommand = getCommand<GetAddonsFlags>({
  plural: 'addons',
  aliases: ['addon'],
  kind: 'ClusterManagementAddOn',
  description: 'list add-ons, the clusters where each is available, and why not on others',
  examples: ['addons', 'addons --clusters cluster1'],
  addOptions: (command) =>
    command.option('--clusters <names>', 'list only these clusters, separated by commas'),
  read: async (hub, flags) => {
    const names = flags.clusters === undefined ? undefined : clusterNames('--clusters', flags.clusters);
    const [addons, installed, clusters] = await Promise.all([
      hub.list(CLUSTER_MANAGEMENT_ADDON),
      hub.list(MANAGED_CLUSTER_ADDON),
      hub.list(MANAGED_CLUSTER),
    ]);
    const shown = (installed.items as readonly ListedAddon[]).filter(
      ({ metadata }) => names === undefined || names.includes(metadata.namespace ?? ''),
    );
    return {
      objects: addons.items,
      list: (objects) =>
        listAddons(
          objects.map(({ metadata }) => metadata),
          shown,
          clusters.items as unknown as readonly ManagedCluster[],
        ),
    };
  },
});
