import { runAddOnManager } from '@berth/addon';
import { type HubWorld, withHub } from '@berth/addon/testing';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import {
  ADDON_PLACEMENT_SCORE,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  NODE,
  POD,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { sleep } from '@berth/runtime/loop/sleep';
import { runAddOn } from '../shared/run-add-on.ts';
import { IMAGE, resourceUsageCollect, runAgent } from './add-on.ts';

const { name } = resourceUsageCollect;
const ADDON_API = 'addon.open-cluster-management.io/v1alpha1';
const NEW_CLUSTERS_MS = 10_000;

/** Runs the manager, and gives the add-on to every cluster that the hub has or gets. */
export async function runManager(hub: KubeApi, signal: AbortSignal): Promise<void> {
  await createIfAbsent(hub, CLUSTER_MANAGEMENT_ADDON, {
    ...{ apiVersion: ADDON_API, kind: 'ClusterManagementAddOn', metadata: { name } },
    spec: { addOnMeta: { displayName: name, description: 'scores of CPU and memory that are left' } },
  });
  const manager = runAddOnManager({ hub, addOns: [resourceUsageCollect], signal });
  while (!signal.aborted) {
    for (const { metadata } of (await hub.list(MANAGED_CLUSTER)).items)
      await createIfAbsent(hub, MANAGED_CLUSTER_ADDON, {
        ...{ apiVersion: ADDON_API, kind: 'ManagedClusterAddOn', spec: {} },
        metadata: { name, namespace: metadata.name },
      });
    await sleep(systemClock, NEW_CLUSTERS_MS, signal);
  }
  await manager;
}

/** The scores of all clusters, as a table. */
export async function scoreTable(hub: KubeApi): Promise<string> {
  const { items } = await hub.list(ADDON_PLACEMENT_SCORE);
  const rows = items.map((object) => {
    const { metadata, status } = object as unknown as AddOnPlacementScore & typeof object;
    return [metadata.namespace, ...(status?.scores ?? []).map((one) => `${one.name} ${one.value}`)].join(
      '\t',
    );
  });
  return rows.sort().join('\n');
}

/** Gives a cluster in memory a node of this size, and a Pod that requests CPUs of it. */
export async function fillCluster(
  { clusters }: HubWorld,
  cluster: string,
  [cpu, requested, memory]: readonly [cpu: string, requested: string, memory: string],
): Promise<void> {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: `node-of-${cluster}` } };
  await clusters.get(cluster)?.create(NODE, { ...node, status: { allocatable: { cpu, memory } } });
  const containers = [{ name: 'work', image: 'work', resources: { requests: { cpu: requested } } }];
  const metadata = { name: 'work', namespace: 'default' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } };
  await clusters.get(cluster)?.create(POD, pod);
}

/** The first two are those of OCM's article. */
const SIZES = {
  cluster1: ['24', '12', '49265496Ki'],
  cluster2: ['24', '12', '49265496Ki'],
  cluster3: ['72', '12', '144Gi'],
} as const;

/** Three clusters in memory. */
async function tryIt(print: (text: string) => void): Promise<void> {
  const programs = { [IMAGE]: runAgent };
  await withHub(
    async (world) => {
      for (const [cluster, size] of Object.entries(SIZES)) await fillCluster(world, cluster, size);
      world.run((signal) => runManager(world.hub, signal));
      await world.waitFor(async () => (await scoreTable(world.hub)).split('memAvailable').length > 3);
      print(await scoreTable(world.hub));
    },
    { clusters: Object.keys(SIZES), programs, patienceMs: 30_000 },
  );
}

export const main = (args: readonly string[], print: (text: string) => void): Promise<void> =>
  runAddOn({ name, tryIt, runManager }, args, print);
