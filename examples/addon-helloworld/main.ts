import { runAddOnManager } from '@berth/addon';
import { withHub } from '@berth/addon/testing';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import {
  CERTIFICATE_REQUEST,
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  LEASE,
  MANAGED_CLUSTER_ADDON,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { runAddOn } from '../shared/run-add-on.ts';
import { helloworld, IMAGE, runAgent } from './add-on.ts';

const { name } = helloworld;
const ADDON_API = 'addon.open-cluster-management.io/v1alpha1';

/** Describes the add-on on the hub, and runs its manager until the signal aborts. */
export async function runManager(hub: KubeApi, signal: AbortSignal): Promise<void> {
  await createIfAbsent(hub, CLUSTER_MANAGEMENT_ADDON, {
    ...{ apiVersion: ADDON_API, kind: 'ClusterManagementAddOn', metadata: { name } },
    spec: { addOnMeta: { displayName: name } },
  });
  await runAddOnManager({ hub, addOns: [helloworld], signal });
}

/** The article's story, on a hub in memory: what somebody writes, and what he sees then. */
export async function tryIt(print: (text: string) => void): Promise<void> {
  const story = async ({ hub, cluster, run, waitFor }: Parameters<Parameters<typeof withHub>[0]>[0]) => {
    run((signal) => runManager(hub, signal));
    const key = { namespace: 'cluster1', name };
    const addOn = { apiVersion: ADDON_API, kind: 'ManagedClusterAddOn', metadata: key };
    await hub.create(MANAGED_CLUSTER_ADDON, { ...addOn, spec: { installNamespace: 'default' } });
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { value: name } };
    await hub.create(CONFIG_MAP, configMap);

    const secret = { namespace: 'default', name: `${name}-hub-kubeconfig` };
    await waitFor(() => cluster.get(SECRET, secret));
    const requests = (await hub.list(CERTIFICATE_REQUEST)).items.map(({ metadata }) => metadata.name);
    print(`request   ${requests.find((one) => one.startsWith(`addon-cluster1-${name}-`)) ?? ''}`);
    print(`secret    ${secret.namespace}/${secret.name}`);
    const copied = await waitFor(() => cluster.get(CONFIG_MAP, { namespace: 'default', name }));
    print(`configmap default/${name} ${JSON.stringify(copied['data'])}`);
    await waitFor(() => cluster.get(LEASE, { namespace: 'default', name }));
    print(`lease     default/${name}`);
    await waitFor(async () =>
      JSON.stringify(await hub.get(MANAGED_CLUSTER_ADDON, key)).includes('ManagedClusterAddOnLeaseUpdated'),
    );
    print(`${name} add-on is available.`);
  };
  await withHub(story, { programs: { [IMAGE]: runAgent }, patienceMs: 60_000 });
}

export const main = (args: readonly string[], print: (text: string) => void): Promise<void> =>
  runAddOn({ name, tryIt, runManager, runAgent }, args, print);
