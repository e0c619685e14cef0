import { type AddOnDefinition, runAddOnManager } from '@berth/addon';
import { type HubWorld, withHub } from '@berth/addon/testing';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  MANAGED_CLUSTER_ADDON,
} from '@berth/kube/model/kinds';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { expect, it } from 'vitest';
import { conditionOf, make } from '../manager/addon-of-code.ts';

const GROUP = 'addon.open-cluster-management.io';
const CONFIGS = { group: GROUP, resource: 'addondeploymentconfigs' };
const COPY = { namespace: 'default', name: 'hello' };
const at = (name: string) => ({ namespace: 'default', name });
const manifest = (text: string) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: COPY, data: { text } },
});

/** It is small by default, and where the last placement selects, large. */
async function installPlaced({ hub }: HubWorld, defaults: readonly object[]): Promise<void> {
  for (const size of ['small', 'large', 'own'])
    await make(hub, ADDON_DEPLOYMENT_CONFIG, {
      metadata: at(size),
      spec: { agentInstallNamespace: 'default', customizedVariables: [{ name: 'SIZE', value: size }] },
    });
  const placements = [at('everywhere'), { ...at('big'), configs: [{ ...CONFIGS, ...at('large') }] }];
  await make(hub, CLUSTER_MANAGEMENT_ADDON, {
    metadata: { name: 'hello' },
    spec: {
      supportedConfigs: [...defaults, { ...CONFIGS, defaultConfig: at('small') }],
      installStrategy: { type: 'Placements', placements },
    },
  });
}

const BY_CODE: AddOnDefinition = {
  name: 'hello',
  health: 'works',
  supportedConfigs: [ADDON_DEPLOYMENT_CONFIG],
  manifests: async ({ values, cluster }) => [manifest(`${cluster.metadata.name} ${values['SIZE'] ?? ''}`)],
};

it.each([
  {
    name: 'code',
    defaults: [],
    setup: { placements: true },
    begin: async ({ hub, run }: HubWorld) =>
      run((signal) => runAddOnManager({ hub, addOns: [BY_CODE], signal })),
  },
  {
    name: 'a template',
    defaults: [{ group: GROUP, resource: 'addontemplates', defaultConfig: { name: 'hello-1' } }],
    setup: { templates: true },
    begin: async ({ hub }: HubWorld) => {
      const agentSpec = { workload: { manifests: [manifest('{{CLUSTER_NAME}} {{SIZE}}')] } };
      const spec = { addonName: 'hello', agentSpec, registration: [] };
      await make(hub, ADDON_TEMPLATE, { metadata: { name: 'hello-1' }, spec });
    },
  },
])(
  'an author tests placements and their configurations: an add-on of $name',
  async ({ defaults, setup, begin }) => {
    const run = async (world: HubWorld) => {
      const { hub, clusters, decide, waitFor } = world;
      await begin(world);
      await installPlaced(world, defaults);
      const texts = async () => {
        const found = [...clusters.values()].map((cluster) => cluster.get(CONFIG_MAP, COPY));
        return (await Promise.all(found)).map(
          (one) => (one?.['data'] as { text?: string } | undefined)?.text,
        );
      };
      const become = (...wanted: (string | undefined)[]) =>
        waitFor(async () => JSON.stringify(await texts()) === JSON.stringify(wanted), {
          what: wanted.join(),
        });
      await decide('default/everywhere', ['c1', 'c2']);
      expect((await hub.list(MANAGED_CLUSTER_ADDON)).items).toEqual([]);
      await decide('default/big', ['c2']);
      await become('c1 small', 'c2 large', undefined);
      await waitFor(async () =>
        (await conditionOf(hub, 'Configured', { namespace: 'c2', name: 'hello' }))?.startsWith('True'),
      );

      await decide('default/big', ['c1', 'c3']);
      await become('c1 large', 'c2 small', 'c3 large');
      await hub.mergePatch(
        MANAGED_CLUSTER_ADDON,
        { namespace: 'c3', name: 'hello' },
        { spec: { configs: [{ ...CONFIGS, ...at('own') }] } },
      );
      await become('c1 large', 'c2 small', 'c3 own');
      await decide('default/everywhere', ['c1']);
      await become('c1 large', undefined, 'c3 own');
    };
    await withHub(run, { ...setup, clusters: ['c1', 'c2', 'c3'], patienceMs: PATIENCE_MS });
  },
);
