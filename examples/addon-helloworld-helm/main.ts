import { runAddOnManager } from '@berth/addon';
import { withHub } from '@berth/addon/testing';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import { CLUSTER_MANAGEMENT_ADDON, CONFIG_MAP, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { runAddOn } from '../shared/run-add-on.ts';
import { helloworldHelm, runAgent } from './add-on.ts';

const IMAGE = process.env['EXAMPLE_IMAGE_NAME'] ?? 'example/helloworld:latest';
const ADDON_API = 'addon.open-cluster-management.io/v1alpha1';

/** Describes the add-on on the hub, and runs its manager until the signal aborts. */
export async function runManager(hub: KubeApi, signal: AbortSignal, helm?: string): Promise<void> {
  const addOn = helloworldHelm(IMAGE, helm);
  const addOnMeta = { displayName: addOn.name, description: 'the add-on helloworld, made of a Helm chart' };
  const supportedConfigs = [
    { group: 'addon.open-cluster-management.io', resource: 'addondeploymentconfigs' },
    { group: '', resource: 'configmaps' },
  ];
  await createIfAbsent(hub, CLUSTER_MANAGEMENT_ADDON, {
    ...{ apiVersion: ADDON_API, kind: 'ClusterManagementAddOn', metadata: { name: addOn.name } },
    spec: { addOnMeta, supportedConfigs, installStrategy: { type: 'Manual' } },
  });
  await runAddOnManager({ hub, addOns: [addOn], signal });
}

/** The whole story on a hub in memory. */
export async function tryIt(print: (text: string) => void, helm?: string): Promise<void> {
  const key = { namespace: 'cluster1', name: 'helloworldhelm' };
  const programs = { [IMAGE]: runAgent };
  await withHub(
    async ({ hub, cluster, run, waitFor }) => {
      run((signal) => runManager(hub, signal, helm));
      await hub.create(MANAGED_CLUSTER_ADDON, {
        apiVersion: ADDON_API,
        kind: 'ManagedClusterAddOn',
        metadata: key,
        spec: {},
      });
      const text = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'cluster1', name: 'greeting' },
        data: { hello: 'cluster1' },
      };
      await hub.create(CONFIG_MAP, text);
      const copy = { namespace: 'open-cluster-management-agent-addon', name: 'greeting' };
      const found = await waitFor(() => cluster.get(CONFIG_MAP, copy));
      print(`on cluster1: ${copy.namespace}/${copy.name} ${JSON.stringify(found['data'])}`);
      await waitFor(async () =>
        JSON.stringify(await hub.get(MANAGED_CLUSTER_ADDON, key)).includes('add-on is available'),
      );
      print('helloworldhelm add-on is available.');
      await hub.delete(MANAGED_CLUSTER_ADDON, key);
      await waitFor(async () => (await hub.get(MANAGED_CLUSTER_ADDON, key)) === undefined);
      print('its job has run, and it is gone');
    },
    { programs, patienceMs: 30_000 },
  );
}

const helm = process.env['HELM'];

export const main = (args: readonly string[], print: (text: string) => void): Promise<void> =>
  runAddOn(
    {
      name: 'helloworldhelm',
      tryIt: (shown) => tryIt(shown, helm),
      runManager: (hub, signal) => runManager(hub, signal, helm),
      runAgent,
    },
    args,
    print,
  );
