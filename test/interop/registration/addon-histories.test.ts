import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ADDON_DEPLOYMENT_CONFIG,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { Condition } from '@berth/kube/model/object-meta';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ADDON_GROUP, AddOnWorld } from '../../controllers/addons/addon-world.ts';
import { freePort } from '../peers/free-port.ts';
import { startPeer } from '../peers/peer-process.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { HUB_NAMESPACE } from './addon-objects.ts';

const PATIENT = { timeout: OUTAGE_PATIENCE_MS, interval: 250 };
const CLUSTERS = ['c1', 'c2', 'c3', 'c4'];
const STEPS = 12;
const ADC = { group: ADDON_GROUP, resource: 'addondeploymentconfigs' };
const TEMPLATE = { group: ADDON_GROUP, resource: 'addontemplates' };
const OF_TEMPLATE = {
  supportedConfigs: [
    { ...TEMPLATE, defaultConfig: { name: 't' } },
    { ...ADC, defaultConfig: { namespace: 'default', name: 'small' } },
  ],
};
const ADDON = { namespace: '', name: 'a' };

/** The same numbers for both hubs. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

type Step = (world: AddOnWorld) => Promise<unknown>;

/** A change of a placement, of the strategy, of a configuration, or of what a cluster itself names. */
function nextStep(pick: (below: number) => number): Step {
  const some = CLUSTERS.filter(() => pick(2) === 0);
  const placement = ['p', 'q'][pick(2)] ?? 'p';
  const config = { ...ADC, namespace: 'default', name: ['small', 'big', 'own'][pick(3)] ?? 'small' };
  const isGiven = pick(3) > 0;
  switch (pick(4)) {
    case 0:
      return (world) => world.decide(placement, some);
    case 1: {
      const configs = isGiven ? { configs: [config] } : {};
      const placements = [
        { namespace: 'default', name: 'p', ...configs },
        { namespace: 'default', name: 'q' },
      ];
      const spec = { installStrategy: { type: 'Placements', placements } };
      return (world) => world.api.mergePatch(CLUSTER_MANAGEMENT_ADDON, ADDON, { spec });
    }
    case 2: {
      const spec = { customizedVariables: [{ name: 'SIZE', value: `${pick(1_000)}` }] };
      const { namespace, name } = config;
      return (world) => world.api.mergePatch(ADDON_DEPLOYMENT_CONFIG, { namespace, name }, { spec });
    }
    default: {
      const cluster = CLUSTERS[pick(CLUSTERS.length)] ?? 'c1';
      const configs = isGiven ? [config] : null;
      return async (world) => {
        if ((await world.clusterAddOn(cluster, 'a')) !== undefined)
          await world.api.mergePatch(
            MANAGED_CLUSTER_ADDON,
            { namespace: cluster, name: 'a' },
            { spec: { configs } },
          );
      };
    }
  }
}

interface Reference {
  readonly resource: string;
  readonly desiredConfig?: { readonly name: string; readonly specHash?: string };
}

const named = ({ resource, desiredConfig }: Reference): string =>
  `${resource} ${desiredConfig?.name} ${desiredConfig?.specHash}`;

const withoutTimes = (conditions: readonly Condition[] = [], types: readonly string[]): readonly string[] =>
  conditions
    .filter(({ type }) => types.includes(type))
    .map(({ type, status, reason }) => `${type} ${status} ${reason}`)
    .sort();

/**
 * What both managers must agree on. OCM 1.2.1 counts the clusters of a placement in another message, and up to 1.3.1 the order of its
 * references is random.
 */
async function stateOf(world: AddOnWorld): Promise<unknown> {
  const clusters = await Promise.all(
    (await world.installedOn('a')).map(async (cluster) => {
      const addon = await world.clusterAddOn(cluster, 'a');
      const { conditions, configReferences = [] } = (addon?.['status'] ?? {}) as {
        readonly conditions?: readonly Condition[];
        readonly configReferences?: readonly Reference[];
      };
      const owners = addon?.metadata.ownerReferences?.map(
        ({ kind, name, controller }) => `${kind} ${name} ${controller}`,
      );
      return [cluster, owners, configReferences.map(named), withoutTimes(conditions, ['Configured'])];
    }),
  );
  const addOn = await world.api.get(CLUSTER_MANAGEMENT_ADDON, ADDON);
  const { defaultconfigReferences = [], installProgressions = [] } = (addOn?.['status'] ?? {}) as {
    readonly defaultconfigReferences?: readonly Reference[];
    readonly installProgressions?: readonly {
      readonly name: string;
      readonly conditions?: readonly Condition[];
      readonly configReferences?: readonly Reference[];
    }[];
  };
  const progressions = installProgressions.map(({ name, conditions, configReferences = [] }) => [
    name,
    configReferences.map(named).sort(),
    withoutTimes(conditions, ['Progressing']),
  ]);
  return { clusters, defaults: defaultconfigReferences.map(named), progressions };
}

async function prepare(world: AddOnWorld): Promise<void> {
  await world.make(NAMESPACE, { metadata: { name: HUB_NAMESPACE } });
  await world.clusters(CLUSTERS);
  await world.template('t', 'a');
  for (const name of ['small', 'big', 'own']) await world.deploymentConfig(name, name);
  for (const name of ['p', 'q']) await world.placement(name, []);
}

async function startWorlds(): Promise<readonly [ours: AddOnWorld, theirs: AddOnWorld]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-addon-histories-'));
  const [ours, theirs] = [await AddOnWorld.create(), await AddOnWorld.create()];
  await Promise.all([prepare(ours), prepare(theirs)]);
  // OCM has no budget.
  ours.start(['install', 'configuration'], { budget: { percent: 100, atLeast: 1_000 } });
  const manager = startPeer('ocm/addon', {
    args: [
      ...['manager', `--kubeconfig=${theirs.hub.kubeconfig}`, `--namespace=${HUB_NAMESPACE}`],
      ...['--disable-leader-election', `--listen=127.0.0.1:${await freePort()}`],
    ],
    logFile: join(dir, 'manager.log'),
    env: { POD_NAME: 'test', POD_NAMESPACE: HUB_NAMESPACE },
  });
  onTestFinished(async () => {
    await manager.stop();
    await Promise.all([ours.close(), theirs.close()]);
    rmSync(dir, { recursive: true, force: true });
  });
  return [ours, theirs];
}

describe.skipIf(!hasPeers('ocm/addon'))('add-ons under the same changes', () => {
  it.each([1, 2, 3])('are the same with OCM’s add-on manager and with ours: seed %i', async (seed) => {
    const worlds = await startWorlds();
    const [ours, theirs] = worlds;
    for (const world of worlds) await world.addOn('a', [{ name: 'p' }, { name: 'q' }], OF_TEMPLATE);
    const pick = randomOf(seed);
    let installed = 0;
    for (let step = 0; step < STEPS; step++) {
      const change = nextStep(pick);
      for (const world of worlds) await change(world);
      const want = await settledStateOf(theirs);
      await expect.poll(() => stateOf(ours), PATIENT).toEqual(want);
      installed += (await theirs.installedOn('a')).length;
    }
    expect(installed).toBeGreaterThan(STEPS);
  });
});

/** OCM’s controllers write one after the other: the state that has stayed for a while. */
async function settledStateOf(world: AddOnWorld): Promise<unknown> {
  let [before, since] = ['', 0];
  for (;;) {
    const state = await stateOf(world);
    const text = JSON.stringify(state);
    if (text !== before) [before, since] = [text, Date.now()];
    else if (Date.now() - since > 2_000) return state;
    // fixed wait: nothing shows that the last controller of OCM has written
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
