import { readAddOn } from '@berth/addon/rules/addon-versions';
import { listServed } from '@berth/kube/list-served';
import {
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { listDecisions } from '../../../../core/listing/list-placements.ts';
import { heldObjects, listHolds } from '../../../../core/listing/list-holds.ts';
import { listRollouts } from '../../../../core/listing/list-works.ts';
import { listSources } from '../../../../core/listing/list-sources.ts';
import { APPLY_SET_ID_LABEL, sourceOfParent } from '../../../../core/sync/apply-set.ts';
import { getCommand } from './get-command.ts';

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
