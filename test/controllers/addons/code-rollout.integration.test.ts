import { runAddOnManager } from '@berth/addon';
import {
  ADDON_DEPLOYMENT_CONFIG,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { expect, it, onTestFinished } from 'vitest';
import { ADDON_GROUP, AddOnWorld } from './addon-world.ts';

const CONFIG = { group: ADDON_GROUP, resource: 'addondeploymentconfigs' };
const SMALL = { namespace: 'default', name: 'small' };

it('the manager of configurations rolls out those of an add-on written in code, whose manager hashes them', async () => {
  const world = await AddOnWorld.create(['install', 'configuration']);
  const stop = new AbortController();
  const running = runAddOnManager({
    hub: world.api,
    signal: stop.signal,
    addOns: [
      {
        name: 'a',
        supportedConfigs: [ADDON_DEPLOYMENT_CONFIG],
        health: 'works',
        manifests: async ({ values, installNamespace: namespace }) => [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'a' }, data: { ...values } },
        ],
      },
    ],
  });
  onTestFinished(async () => {
    stop.abort();
    await running;
    await world.close();
  });
  const sizeOn = async (cluster: string): Promise<string | undefined> => {
    const work = await world.api.get(MANIFEST_WORK, { namespace: cluster, name: 'addon-a-deploy-0' });
    const { manifests = [] } =
      (work?.['spec'] as { readonly workload?: { readonly manifests?: readonly KubeObject[] } } | undefined)
        ?.workload ?? {};
    return (manifests[0]?.['data'] as { readonly SIZE?: string } | undefined)?.SIZE;
  };
  const sizes = async () => [await sizeOn('c1'), await sizeOn('c2')];
  const generationOf = async (cluster: string): Promise<number | undefined> =>
    (await world.api.get(MANIFEST_WORK, { namespace: cluster, name: 'addon-a-deploy-0' }))?.metadata
      .generation;
  /** What the cluster's agent says of the work as it is now. */
  const report = async (cluster: string) => {
    const key = { namespace: cluster, name: 'addon-a-deploy-0' };
    const observedGeneration = await generationOf(cluster);
    const conditions = ['Applied', 'Available'].map((type) => ({
      ...{ type, status: 'True', reason: 'Test', message: '', observedGeneration },
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }));
    await world.api.mergePatch(MANIFEST_WORK, key, { status: { conditions } }, { subresource: 'status' });
  };

  await world.clusters(['c1', 'c2']);
  await world.deploymentConfig('small', 's');
  await world.placement('p', ['c1', 'c2']);
  const rolloutStrategy = { type: 'Progressive', progressive: { maxConcurrency: 1 } };
  const spec = { supportedConfigs: [{ ...CONFIG, defaultConfig: SMALL }] };
  await world.addOn('a', [{ name: 'p', rolloutStrategy }], spec);
  await expect.poll(() => sizeOn('c1')).toBe('s');
  const managed = await world.api.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'a' });
  expect(managed?.['status']).toMatchObject({
    defaultconfigReferences: [{ ...CONFIG, desiredConfig: { specHash: expect.stringMatching(/^\w{64}$/) } }],
  });
  expect(await world.clusterAddOn('c1', 'a')).toMatchObject({ status: { supportedConfigs: [CONFIG] } });
  for (const cluster of ['c1', 'c2']) {
    await expect.poll(() => sizeOn(cluster)).toBe('s');
    await report(cluster);
    await expect.poll(() => world.conditionsOf(cluster, 'a')).toContain('Progressing=False Completed');
  }

  // Nothing was deployed without its configuration.
  for (const cluster of ['c1', 'c2']) expect(await generationOf(cluster)).toBe(1);
  // Another content: one cluster after the other, although both read the same object.
  const variables = { spec: { customizedVariables: [{ name: 'SIZE', value: 'm' }] } };
  await world.api.mergePatch(ADDON_DEPLOYMENT_CONFIG, SMALL, variables);
  await expect.poll(sizes).toEqual(['m', 's']);
  await report('c1');
  await expect.poll(sizes).toEqual(['m', 'm']);
  await world.api.delete(MANAGED_CLUSTER_ADDON, { namespace: 'c1', name: 'a' });
});
