import { listClusters } from '../../../../core/listing/list-clusters.ts';
import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { clusterNames } from '../../flags/option-values.ts';
import { getCommand, type GetFlags } from '../objects/get-command.ts';

interface GetClustersFlags extends GetFlags {
  readonly clusters?: string;
  readonly clusterset?: string;
}

export const getClustersCommand = getCommand<GetClustersFlags>({
  plural: 'clusters',
  aliases: ['cluster'],
  describe: async (hub, object) =>
    (await import('../objects/describe-sections.ts')).clusterSections(hub, object),
  kinds: [MANAGED_CLUSTER],
  description: 'list ManagedClusters: accepted, available, set, capacity, version',
  examples: ['clusters', 'clusters --clusterset default', 'clusters --clusters cluster1,cluster2 -o yaml'],
  addOptions: (command) =>
    command
      .option('--clusters <names>', 'only these, separated by commas')
      .option('--clusterset <name>', 'only those with the label of this set'),
  read: async (hub, { clusters, clusterset }, selection) => {
    const names = clusters === undefined ? undefined : clusterNames('--clusters', clusters);
    const { items } = await hub.list(MANAGED_CLUSTER, selection);
    return {
      objects: items.filter(
        ({ metadata: { name, labels } }) =>
          (names === undefined || names.includes(name)) &&
          (clusterset === undefined || labels?.[CLUSTER_SET_LABEL] === clusterset),
      ),
      list: (objects) => listClusters(objects as readonly ManagedCluster[]),
    };
  },
});
