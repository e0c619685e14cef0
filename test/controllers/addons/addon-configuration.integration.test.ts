import { afterEach, describe, expect, it } from 'vitest';
import {
  ADDON_DEPLOYMENT_CONFIG,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
} from '@berth/kube/model/kinds';
import type { Condition } from '@berth/kube/model/object-meta';
import { ADDON_GROUP, AddOnWorld } from './addon-world.ts';

// fixed wait: events are gathered for a quarter of a second, and nothing shows that there is nothing to write
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_500));
const ADC = { group: ADDON_GROUP, resource: 'addondeploymentconfigs' };
const TEMPLATE = { group: ADDON_GROUP, resource: 'addontemplates' };
const OF_TEMPLATE = {
  supportedConfigs: [
    { ...TEMPLATE, defaultConfig: { name: 't' } },
    { ...ADC, defaultConfig: { namespace: 'default', name: 'small' } },
  ],
};

let world: AddOnWorld;
afterEach(() => world.close());

async function startWith(
  clusters: readonly string[],
  placement: object,
  spec: object = OF_TEMPLATE,
): Promise<void> {
  world = await AddOnWorld.create(['install', 'configuration']);
  await world.clusters(clusters);
  await world.template('t', 'a');
  for (const name of ['small', 'big', 'own']) await world.deploymentConfig(name, name);
  await world.placement('p', clusters);
  await world.addOn('a', [{ name: 'p', ...placement }], spec);
}

const adcOf = async (cluster: string): Promise<string | undefined> =>
  (await world.referencesOf(cluster, 'a'))
    .find((one) => one.startsWith('addondeploymentconfigs'))
    ?.split(' ')[1];

const expectConfigs = (want: Readonly<Record<string, string>>): Promise<void> =>
  expect
    .poll(async () => {
      const have = await Promise.all(
        Object.keys(want).map(async (cluster) => [cluster, await adcOf(cluster)]),
      );
      return Object.fromEntries(have) as unknown;
    })
    .toEqual(want);

/** What deployment writes, and a work that is ready with these configurations. */
async function deploy(cluster: string): Promise<void> {
  const addon = await world.clusterAddOn(cluster, 'a');
  const { conditions = [], configReferences = [] } = (addon?.['status'] ?? {}) as {
    readonly conditions?: readonly Condition[];
    readonly configReferences?: readonly {
      readonly resource: string;
      readonly desiredConfig: {
        readonly namespace?: string;
        readonly name: string;
        readonly specHash: string;
      };
    }[];
  };
  const hashes = configReferences.map(({ resource, desiredConfig: { namespace = '', name, specHash } }) => [
    `${resource}.${ADDON_GROUP}/${namespace}/${name}`,
    specHash,
  ]);
  const annotations = {
    'open-cluster-management.io/config-spec-hash': JSON.stringify(Object.fromEntries(hashes)),
  };
  const key = { namespace: cluster, name: 'addon-a-deploy-0' };
  const work =
    (await world.api.get(MANIFEST_WORK, key)) ??
    (await world.make(MANIFEST_WORK, {
      metadata: { ...key, labels: { 'open-cluster-management.io/addon-name': 'a' } },
      spec: { workload: { manifests: [] } },
    }));
  const { generation: observedGeneration } = work.metadata;
  await world.api.mergePatch(MANIFEST_WORK, key, { metadata: { annotations } });
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const ready = ['Applied', 'Available'].map((type) => ({
    ...{ type, status: 'True', reason: 'R', message: '', observedGeneration, lastTransitionTime: now },
  }));
  const status = { subresource: 'status', fieldManager: 'test' } as const;
  await world.api.mergePatch(MANIFEST_WORK, key, { status: { conditions: ready } }, status);
  if (conditions.some(({ type }) => type === 'ManifestApplied')) return;
  const applied = {
    type: 'ManifestApplied',
    status: 'True',
    reason: 'AddonManifestApplied',
    message: '',
    lastTransitionTime: now,
  };
  await world.api.mergePatch(
    MANAGED_CLUSTER_ADDON,
    { namespace: cluster, name: 'a' },
    {
      metadata: { resourceVersion: addon?.metadata.resourceVersion },
      status: { conditions: [...conditions, applied] },
    },
    status,
  );
}

describe('configurations of add-ons', () => {
  it('come from the defaults, a strategy replaces them, and the add-on of a cluster its own', async () => {
    await startWith(['c1', 'c2'], { configs: [{ ...ADC, namespace: 'default', name: 'big' }] });
    await expectConfigs({ c1: 'big', c2: 'big' });
    const key = { namespace: 'c2', name: 'a' };
    const configs = [{ ...ADC, namespace: 'default', name: 'own' }];
    await world.api.mergePatch(MANAGED_CLUSTER_ADDON, key, { spec: { configs } });
    await expectConfigs({ c1: 'big', c2: 'own' });
    await expect
      .poll(() => world.referencesOf('c2', 'a'))
      .toEqual([
        expect.stringMatching(/^addondeploymentconfigs own [0-9a-f]{6}$/),
        expect.stringMatching(/^addontemplates t [0-9a-f]{6}$/),
      ]);
    await world.api.mergePatch(MANAGED_CLUSTER_ADDON, key, { spec: { configs: null } });
    await expectConfigs({ c2: 'big' });
    const strategy = { installStrategy: { placements: [{ namespace: 'default', name: 'p' }] } };
    await world.api.mergePatch(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'a' }, { spec: strategy });
    await expectConfigs({ c1: 'small', c2: 'small' });
  });

  it('have the hash of their content, and of nothing while the object is not there', async () => {
    await startWith(['c1'], {});
    await expectConfigs({ c1: 'small' });
    const hashOf = async () => (await world.referencesOf('c1', 'a'))[0]?.split(' ')[2];
    await expect.poll(hashOf).toMatch(/^[0-9a-f]{6}$/);
    const before = await hashOf();
    const small = { namespace: 'default', name: 'small' };
    await world.api.mergePatch(ADDON_DEPLOYMENT_CONFIG, small, { metadata: { labels: { x: 'y' } } });
    await settled();
    expect(await hashOf()).toBe(before);
    await world.api.delete(ADDON_DEPLOYMENT_CONFIG, small);
    await expect.poll(hashOf).toBe('');
  });

  it('reach clusters in the order of the rollout, each when the one before is done', async () => {
    const rolloutStrategy = { type: 'Progressive', progressive: { maxConcurrency: 1 } };
    await startWith(['c1', 'c2'], { rolloutStrategy });
    await expectConfigs({ c1: 'small' });
    await settled();
    expect(await world.conditionsOf('c2', 'a')).toEqual([
      'Configured=False ConfigurationsNotConfigured',
      'Progressing=False WaitingForManifestApplied',
    ]);
    await deploy('c1');
    await expectConfigs({ c1: 'small', c2: 'small' });
    expect(await world.conditionsOf('c1', 'a')).toContain('Progressing=False Completed');
    await deploy('c2');
    await expect.poll(progressions).toMatchObject([
      {
        conditions: [
          {
            reason: 'Completed',
            message:
              'selected clusters 2. configured addons 2/2 completed with no errors, 0 failed 0 timeout.',
          },
        ],
        configReferences: [
          { lastKnownGoodConfig: { name: 'small' } },
          { lastKnownGoodConfig: { name: 't' } },
        ],
      },
    ]);
    const before = (await world.clusterAddOn('c1', 'a'))?.metadata.resourceVersion;
    await world.stop();
    world.start(['install', 'configuration']);
    await settled();
    expect((await world.clusterAddOn('c1', 'a'))?.metadata.resourceVersion).toBe(before);
  });

  it('say when a cluster names a kind that the add-on does not have', async () => {
    await startWith(['c1'], {});
    await expectConfigs({ c1: 'small' });
    const configs = [{ group: 'g', resource: 'r', namespace: 'n', name: 'x' }];
    await world.api.mergePatch(MANAGED_CLUSTER_ADDON, { namespace: 'c1', name: 'a' }, { spec: { configs } });
    await expect
      .poll(() => world.conditionsOf('c1', 'a'))
      .toContain('Progressing=False ConfigurationUnsupported');
  });

  it('stay as they are on a cluster whose removal is held', async () => {
    const clusters = ['c1', 'c2', 'c3', 'c4'];
    await startWith(clusters, { configs: [{ ...ADC, namespace: 'default', name: 'big' }] });
    await expectConfigs({ c1: 'big', c4: 'big' });
    await world.decide('p', ['c1']);
    await expect.poll(() => world.events.at(-1)?.action).toBe('removals-held');
    await settled();
    await expectConfigs({ c1: 'big', c2: 'big', c3: 'big', c4: 'big' });
  });
});

async function progressions(): Promise<unknown> {
  const addOn = await world.api.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'a' });
  return ((addOn?.['status'] ?? {}) as { readonly installProgressions?: unknown }).installProgressions;
}
