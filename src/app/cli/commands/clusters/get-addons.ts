import { listAddons, listAddonsWide, type ListedAddon } from '../../../../core/listing/list-addons.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { isManagedHere, readAddOn, readClusterAddOn } from '@berth/addon/rules/addon-versions';
import { installPlacements } from '@berth/addon/rules/plan-install';
import { clusterNames } from '../../flags/option-values.ts';
import { getCommand, type GetFlags } from '../objects/get-command.ts';

interface GetAddonsFlags extends GetFlags {
  readonly clusters?: string;
}

export const getAddonsCommand = getCommand<GetAddonsFlags>({
  plural: 'addons',
  aliases: ['addon'],
  kinds: [CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER_ADDON, MANAGED_CLUSTER],
  description: 'list add-ons, the clusters where each is available, and why not on others',
  examples: ['addons', 'addons --clusters cluster1', 'addons helloworld -o wide'],
  formats: ['wide'],
  addOptions: (command) =>
    command.option('--clusters <names>', 'list only add-ons of these clusters, separated by commas'),
  read: async (hub, flags, selection) => {
    const names = flags.clusters === undefined ? undefined : clusterNames('--clusters', flags.clusters);
    const [addOns, all, clusters] = await Promise.all([
      hub.list(CLUSTER_MANAGEMENT_ADDON, selection),
      hub.list(MANAGED_CLUSTER_ADDON),
      hub.list(MANAGED_CLUSTER),
    ]);
    const known = new Map(addOns.items.map((addOn) => [addOn.metadata.name, addOn]));
    const isChosen = selection.labelSelector === undefined ? () => true : (name: string) => known.has(name);
    const shown = all.items.filter(
      ({ metadata }) =>
        isChosen(metadata.name) && (names === undefined || names.includes(metadata.namespace ?? '')),
    );
    const lost = shown.filter(({ metadata }) => !known.has(metadata.name));
    const chosenBy = (name: string): string => chooserOf(known.get(name));
    const hubOf = (objects: readonly KubeObject[]) => ({
      names: [...new Set(objects.map(({ metadata }) => metadata.name))].sort(),
      installed: shown.map(readClusterAddOn) as readonly ListedAddon[],
      clusters: clusters.items as unknown as readonly ManagedCluster[],
    });
    return {
      objects: names === undefined ? [...addOns.items, ...lost] : shown,
      list: (objects) => listAddons(hubOf(objects)),
      listWide: (objects) => listAddonsWide(hubOf(objects), chosenBy),
    };
  },
});

/** Who chooses the clusters of an add-on. */
function chooserOf(object: KubeObject | undefined): string {
  if (object === undefined) return 'no ClusterManagementAddOn';
  const addOn = readAddOn(object);
  const placements = installPlacements(addOn);
  if (placements !== undefined)
    return placements.map(({ namespace, name }) => `${namespace}/${name}`).join(', ');
  return isManagedHere(addOn) ? 'people' : 'its own manager';
}
