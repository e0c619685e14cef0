import { withHub } from '@berth/addon/testing';
import { CONFIG_MAP, DEPLOYMENT, MANAGED_CLUSTER_ADDON, MANIFEST_WORK } from '@berth/kube/model/kinds';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { describe, expect, it } from 'vitest';
import { runManager, tryIt } from '../../../../examples/addon-helloworld-helm/main.ts';
import { findHelm } from '../sources/find-helm.ts';

const helm = findHelm();
const key = { namespace: 'cluster1', name: 'helloworldhelm' };

describe.skipIf(helm === undefined)('the example helloworld-helm', () => {
  it('copies ConfigMaps, is available, and runs its job before it goes', async () => {
    const printed: string[] = [];
    await tryIt((text) => printed.push(text), helm);
    expect(printed).toEqual([
      'on cluster1: open-cluster-management-agent-addon/greeting {"hello":"cluster1"}',
      'helloworldhelm add-on is available.',
      'its job has run, and it is gone',
    ]);
  });

  it('takes its image from the ConfigMap that the add-on of a cluster names', async () => {
    await withHub(
      async ({ hub, cluster, run, waitFor }) => {
        run((signal) => runManager(hub, signal, helm));
        const settings = { namespace: 'default', name: 'settings' };
        await hub.create(CONFIG_MAP, {
          ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: settings, data: { image: 'example/other:2' } },
        });
        await hub.create(MANAGED_CLUSTER_ADDON, {
          ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ManagedClusterAddOn' },
          metadata: key,
          spec: { configs: [{ group: '', resource: 'configmaps', ...settings }] },
        });
        // As OCM's add-on manager, or `berth serve --addons`, says which configuration counts.
        const desiredConfig = { ...settings, specHash: '' };
        const reference = {
          group: '',
          resource: 'configmaps',
          ...settings,
          lastObservedGeneration: 1,
          desiredConfig,
        };
        const status = { configReferences: [reference] };
        await hub.mergePatch(MANAGED_CLUSTER_ADDON, key, { status }, { subresource: 'status' });
        const deployment = { namespace: 'open-cluster-management-agent-addon', name: 'helloworldhelm-agent' };
        await waitFor(async () =>
          JSON.stringify(await cluster.get(DEPLOYMENT, deployment)).includes('"example/other:2"'),
        );
        const works = (await hub.list(MANIFEST_WORK, { namespace: 'cluster1' })).items;
        expect(works.map(({ metadata }) => metadata.name)).toEqual(['addon-helloworldhelm-deploy-0']);
      },
      { patienceMs: PATIENCE_MS },
    );
  });
});
