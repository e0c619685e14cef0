import { MANAGED_CLUSTER_ADDON, MANIFEST_WORK, ADDON_TEMPLATE } from '@berth/kube/model/kinds';
import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { afterEach, expect, it } from 'vitest';
import { ADDON_DUTIES } from '../../../src/core/addon/addon-duties.ts';
import { restrictedClient } from '../../app/serve/restricted-controller.ts';
import { condition, deployment } from '../../../packages/addon/test/rules/deployment/deployment-harness.ts';
import { ADDON_GROUP, AddOnWorld } from './addon-world.ts';
import { runAddOns } from './run-addons.ts';

const patience = { timeout: PATIENCE_MS };
const ADDON = { namespace: 'c1', name: 'web' };
const WORK = { namespace: 'c1', name: 'addon-web-deploy-0' };

let world: AddOnWorld;
let addons: ReturnType<typeof runAddOns>;
afterEach(async () => {
  await addons.close();
  await world.close();
});

const addon = async () =>
  (await world.api.get(MANAGED_CLUSTER_ADDON, ADDON)) as ManagedClusterAddOn | undefined;

async function states(): Promise<Readonly<Record<string, string>>> {
  const conditions = (await addon())?.status?.conditions ?? [];
  return Object.fromEntries(conditions.map((one) => [one.type, `${one.status} ${one.reason}`]));
}

/** What the cluster's agent reports of the work. */
async function report(): Promise<void> {
  const work = await world.api.get(MANIFEST_WORK, WORK);
  const observedGeneration = work?.metadata.generation ?? expect.fail('no work');
  const conditions = ['Applied', 'Available'].map((type) => ({
    ...condition(type, 'True'),
    ...{ observedGeneration, lastTransitionTime: '2026-03-01T12:00:00Z' },
  }));
  const resourceMeta = {
    ...{ ordinal: 0, group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' },
    ...{ name: 'agent', namespace: 'agent' },
  };
  const values = ['Replicas', 'ReadyReplicas'].map((name) => ({
    name,
    fieldValue: { type: 'Integer', integer: 1 },
  }));
  const manifests = [{ resourceMeta, conditions: [], statusFeedback: { values } }];
  const status = { conditions, resourceStatus: { manifests } };
  await world.api.mergePatch(MANIFEST_WORK, WORK, { status }, { subresource: 'status' });
}

const DONE = {
  Configured: 'True ConfigurationsConfigured',
  ManifestApplied: 'True AddonManifestApplied',
  Available: 'True ProbeAvailable',
  Progressing: 'False Completed',
};

it('installs an add-on of a template by placement, changes and removes it, with the printed rights', async () => {
  world = await AddOnWorld.create();
  const printed = {
    applies: false,
    schedule: 'upstream',
    works: false,
    embedded: true,
    secrets: [],
  } as const;
  const restricted = await restrictedClient(
    { hub: world.hub, dataDir: '' },
    { ...printed, addons: { duties: ADDON_DUTIES } },
  );
  addons = runAddOns(restricted.api, ADDON_DUTIES);
  await world.clusters(['c1']);
  const agentSpec = { workload: { manifests: [deployment('agent')] } };
  await world.make(ADDON_TEMPLATE, { metadata: { name: 'web-1' }, spec: { addonName: 'web', agentSpec } });
  await world.placement('all', ['c1']);
  const template = { group: ADDON_GROUP, resource: 'addontemplates', defaultConfig: { name: 'web-1' } };
  await world.addOn('web', [{ name: 'all' }], { supportedConfigs: [template] });
  await expect.poll(() => world.api.get(MANIFEST_WORK, WORK), patience).toBeDefined();
  await report();
  await expect.poll(states, patience).toMatchObject(DONE);

  const edited = { spec: { agentSpec: { workload: { manifests: [deployment('agent', {}, 3)] } } } };
  await world.api.mergePatch(ADDON_TEMPLATE, { namespace: '', name: 'web-1' }, edited);
  const text = async () => JSON.stringify(await world.api.get(MANIFEST_WORK, WORK));
  await expect.poll(text, patience).toContain('"replicas":3');
  await expect.poll(states, patience).toMatchObject({ Progressing: 'True Progressing' });
  await report();
  await expect.poll(states, patience).toMatchObject(DONE);

  await world.api.delete(MANAGED_CLUSTER_ADDON, ADDON);
  await world.decide('all', []);
  await expect.poll(async () => (await world.api.list(MANIFEST_WORK)).items, patience).toEqual([]);
  expect([...restricted.api.refused]).toEqual([]);
  expect(addons.warnings()).toEqual([]);
});
