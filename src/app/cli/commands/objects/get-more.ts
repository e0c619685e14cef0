import { isManagedHere, readAddOn, readClusterAddOn } from '@berth/addon/rules/addon-versions';
import { installPlacements } from '@berth/addon/rules/plan-install';
import { listServed } from '@berth/kube/create-if-absent';
import {
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Placement } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import {
  listAddons,
  listAddonsWide,
  listClusters,
  listClusterSets,
  type ListedAddon,
} from '../../../../core/listing/list-clusters.ts';
import { heldObjects, listHolds } from '../../../../core/listing/list-holds.ts';
import {
  listDecisions,
  listPlacements,
  listPlacementsOfClusteradm,
} from '../../../../core/listing/list-placements.ts';
import { listSources } from '../../../../core/listing/list-sources.ts';
import { listRollouts, listWorks } from '../../../../core/listing/list-works.ts';
import { APPLY_SET_ID_LABEL, sourceOfParent } from '../../../../core/sync/apply-set.ts';
import { clusterNames } from '../../flags/option-values.ts';
import { getCommand, type GetFlags } from './get-command.ts';

const PARENTS: ListOptions = { labelSelector: APPLY_SET_ID_LABEL };

export const getDecisionsCommand = getCommand({
  plural: 'decisions',
  aliases: ['decision'],
  kinds: [PLACEMENT_DECISION],
  description: 'list the clusters of each PlacementDecision, with their reasons',
  examples: ['decisions -n shop', 'decisions -l cluster.open-cluster-management.io/placement=web'],
  read: async (hub, _flags, selection) => ({
    objects: (await hub.list(PLACEMENT_DECISION, selection)).items,
    list: listDecisions,
  }),
});

export const getHoldsCommand = getCommand({
  plural: 'holds',
  aliases: ['hold'],
  noun: 'hold',
  kinds: [PLACEMENT, MANAGED_CLUSTER, CLUSTER_MANAGEMENT_ADDON, CONFIG_MAP],
  scopes: { [CONFIG_MAP.plural]: PARENTS },
  description: 'list what waits for an approval: decisions, deletions and removals, each with its code',
  examples: ['holds', 'holds -n shop -o json', 'holds -w'],
  read: async (hub, _flags, selection) => {
    const { namespace, labelSelector } = selection;
    const everywhere = namespace === undefined || namespace === '';
    const others = everywhere
      ? [
          ...(await listServed(hub, MANAGED_CLUSTER, { labelSelector })),
          ...(await listServed(hub, CLUSTER_MANAGEMENT_ADDON, { labelSelector })),
          ...(labelSelector === undefined ? await parents(hub) : []),
        ]
      : [];
    const placements = await hub.list(PLACEMENT, selection);
    return { objects: heldObjects([...placements.items, ...others]), list: listHolds };
  },
});

export const getRolloutsCommand = getCommand({
  plural: 'rollouts',
  aliases: ['rollout'],
  noun: 'rollout',
  kinds: [MANIFEST_WORK_REPLICA_SET, CLUSTER_MANAGEMENT_ADDON],
  description: 'list ManifestWorkReplicaSets and add-ons of placements: how far each rollout is',
  examples: ['rollouts', 'rollouts -n shop', 'rollouts -w'],
  read: async (hub, _flags, { namespace, labelSelector }) => {
    const replicaSets = await listServed(hub, MANIFEST_WORK_REPLICA_SET, { namespace, labelSelector });
    const addOns = namespace ? [] : await listServed(hub, CLUSTER_MANAGEMENT_ADDON, { labelSelector });
    const placed = addOns.filter((one) => (readAddOn(one).status?.installProgressions ?? []).length > 0);
    return { objects: [...replicaSets, ...placed], list: (objects) => listRollouts(objects.map(asRead)) };
  },
});

export const getSourcesCommand = getCommand({
  plural: 'sources',
  aliases: ['source'],
  nameOf: ({ metadata }) => sourceOfParent(metadata) ?? metadata.name,
  noun: 'source',
  kinds: [CONFIG_MAP],
  scopes: { [CONFIG_MAP.plural]: PARENTS },
  description: 'list the sources of Git that have objects on the hub, and whether deletions are held',
  examples: ['sources', 'sources -w'],
  read: async (hub, _flags, { namespace }) => {
    const { readAnnouncedSettings } = await import(
      '../../../../controllers/leadership/announced-settings.ts'
    );
    const [all, settings] = await Promise.all([parents(hub, namespace), readAnnouncedSettings(hub)]);
    const followed = settings.flatMap(({ sources }) => sources);
    return { objects: all, list: (objects, nowMs) => listSources(objects, followed, nowMs) };
  },
});

/** The parents of the sources that Berth applies. */
async function parents(hub: KubeApi, namespace?: string): Promise<readonly KubeObject[]> {
  const { items } = await hub.list(CONFIG_MAP, { ...PARENTS, namespace });
  return items.filter(({ metadata }) => sourceOfParent(metadata) !== undefined);
}

function asRead(object: KubeObject): KubeObject {
  return object.kind === 'ManifestWorkReplicaSet' ? object : (readAddOn(object) as unknown as KubeObject);
}

interface GetClustersFlags extends GetFlags {
  readonly clusters?: string;
  readonly clusterset?: string;
}

export const getClustersCommand = getCommand<GetClustersFlags>({
  plural: 'clusters',
  aliases: ['cluster'],
  describe: async (hub, object) => (await import('./describe-sections.ts')).clusterSections(hub, object),
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

export const getClusterSetsCommand = getCommand({
  plural: 'clustersets',
  aliases: ['clusterset'],
  describe: async (hub, object) => (await import('./describe-sections.ts')).clusterSetSections(hub, object),
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

export const getPlacementsCommand = getCommand({
  plural: 'placements',
  aliases: ['placement'],
  describe: async (hub, object) => (await import('./describe-sections.ts')).placementSections(hub, object),
  kinds: [PLACEMENT, PLACEMENT_DECISION],
  description: 'list Placements, the clusters that they select, what is held, and what is wrong',
  formats: ['clusteradm'],
  examples: ['placements', 'placements -n argocd -o clusteradm', 'placements web -o yaml', 'placements -w'],
  read: async (hub, { namespace }, selection) => {
    const [placements, decisions] = await Promise.all([
      hub.list(PLACEMENT, selection),
      hub.list(PLACEMENT_DECISION, { namespace }),
    ]);
    const pages = decisions.items as unknown as readonly PlacementDecision[];
    return {
      objects: placements.items,
      list: (objects, nowMs) => listPlacements(objects as readonly Placement[], pages, nowMs),
      listOfClusteradm: (objects) => listPlacementsOfClusteradm(objects as readonly Placement[], pages),
    };
  },
});

interface GetWorksFlags extends GetFlags {
  readonly cluster?: string;
}

export const getWorksCommand = getCommand<GetWorksFlags>({
  plural: 'works',
  aliases: ['work'],
  describe: async (hub, object) => (await import('./describe-sections.ts')).workSections(hub, object),
  kinds: [MANIFEST_WORK],
  description: 'list ManifestWorks: where they are, whether they are applied, available and degraded',
  examples: ['works', 'works --cluster cluster1', 'works my-first-work -o json'],
  addOptions: (command) => command.option('--cluster <name>', 'only this managed cluster: its namespace'),
  read: async (hub, { cluster }, selection) => {
    const { items } = await hub.list(MANIFEST_WORK, {
      ...selection,
      namespace: cluster ?? selection.namespace,
    });
    return {
      objects: items,
      list: (objects, nowMs) => listWorks(objects as unknown as readonly ManifestWork[], nowMs),
    };
  },
});
