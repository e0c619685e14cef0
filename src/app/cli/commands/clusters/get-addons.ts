import { listAddons } from '../../../../core/listing/list-addons.ts';
import { CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER_ADDON } from '../../../../core/model/kinds.ts';
import { clusterNames } from '../../flags/cluster-names.ts';
import { getCommand, type GetFlags } from '../objects/get-command.ts';

interface GetAddonsFlags extends GetFlags {
  readonly clusters?: string;
}

export const getAddonsCommand = getCommand<GetAddonsFlags>({
  plural: 'addons',
  aliases: ['addon'],
  kind: 'ClusterManagementAddOn',
  description: 'list add-ons and the clusters where they are installed',
  examples: ['addons', 'addons --clusters cluster1'],
  addOptions: (command) =>
    command.option('--clusters <names>', 'list only these clusters, separated by commas'),
  read: async (hub, { clusters }) => {
    const names = clusters === undefined ? undefined : clusterNames('--clusters', clusters);
    const [addons, installed] = await Promise.all([
      hub.list(CLUSTER_MANAGEMENT_ADDON),
      hub.list(MANAGED_CLUSTER_ADDON),
    ]);
    const shown = installed.items
      .map(({ metadata }) => metadata)
      .filter(({ namespace = '' }) => names === undefined || names.includes(namespace));
    return {
      objects: addons.items,
      list: (objects) =>
        listAddons(
          objects.map(({ metadata }) => metadata),
          shown,
        ),
    };
  },
});
