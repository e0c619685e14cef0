import { withHub } from '@berth/addon/testing';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CONFIG_MAP,
  MANAGED_CLUSTER_ADDON,
  ROLE_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { it } from 'vitest';
import { conditionOf, HELLO, make } from '../manager/addon-of-code.ts';

const GROUP = 'addon.open-cluster-management.io';
const CONFIG = { namespace: 'default', name: 'size' };
const COPY = { namespace: 'default', name: 'hello' };
const manifest = (data: object) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: COPY, data },
});

it('an author tests a template: its manifests, configurations, registration and rights', async () => {
  await withHub(
    async ({ hub, cluster, waitFor }) => {
      const variables = (value: string) => ({
        agentInstallNamespace: 'default',
        customizedVariables: [{ name: 'SIZE', value }],
      });
      await make(hub, CLUSTER_ROLE, { metadata: { name: 'reader' }, rules: [] });
      await make(hub, ADDON_DEPLOYMENT_CONFIG, { metadata: CONFIG, spec: variables('small') });
      await make(hub, ADDON_TEMPLATE, {
        metadata: { name: 'hello-1' },
        spec: {
          addonName: 'hello',
          agentSpec: { workload: { manifests: [manifest({ text: '{{CLUSTER_NAME}} {{SIZE}}' })] } },
          registration: [
            {
              type: 'KubeClient',
              kubeClient: {
                hubPermissions: [{ type: 'CurrentCluster', currentCluster: { clusterRoleName: 'reader' } }],
              },
            },
          ],
        },
      });
      const supportedConfigs = [
        { group: GROUP, resource: 'addontemplates', defaultConfig: { name: 'hello-1' } },
        { group: GROUP, resource: 'addondeploymentconfigs', defaultConfig: CONFIG },
      ];
      await make(hub, CLUSTER_MANAGEMENT_ADDON, { metadata: { name: 'hello' }, spec: { supportedConfigs } });
      await make(hub, MANAGED_CLUSTER_ADDON, { metadata: HELLO, spec: {} });
      const textIs = (text: string) => async () =>
        JSON.stringify((await cluster.get(CONFIG_MAP, COPY))?.['data']) === JSON.stringify({ text });
      await waitFor(textIs('cluster1 small'));
      await waitFor(() => cluster.get(SECRET, { namespace: 'default', name: 'hello-hub-kubeconfig' }));
      const rights = { namespace: 'cluster1', name: 'open-cluster-management:hello:clusterrole:agent' };
      await waitFor(() => hub.get(ROLE_BINDING, rights));
      await waitFor(async () => (await conditionOf(hub, 'Available'))?.startsWith('True'));

      await hub.mergePatch(ADDON_DEPLOYMENT_CONFIG, CONFIG, { spec: variables('large') });
      await waitFor(textIs('cluster1 large'));
      await hub.delete(MANAGED_CLUSTER_ADDON, HELLO);
      await waitFor(async () => (await cluster.get(CONFIG_MAP, COPY)) === undefined);
      await waitFor(async () => (await hub.get(ROLE_BINDING, rights)) === undefined);
    },
    { templates: true, patienceMs: PATIENCE_MS },
  );
});
