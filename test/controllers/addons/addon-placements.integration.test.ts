import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_SET_BINDING, NAMESPACE, PLACEMENT } from '@berth/kube/model/kinds';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { expect, it, onTestFinished } from 'vitest';
import { serveController } from '../../../src/app/serve/serve-controller.ts';
import { ACCEPT_NOBODY } from '../../../src/core/registration/acceptance/auto-acceptance.ts';
import { DEFAULT_NAMESPACE } from '../../../src/core/sync/apply-set.ts';
import { AddOnWorld } from './addon-world.ts';

it('add-ons follow the placements that Berth itself decides', async () => {
  const world = await AddOnWorld.create();
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-addon-placements-'));
  await world.clusters(['c1', 'c2']);
  // For what it removed lately. A controller that announces itself makes it.
  await world.make(NAMESPACE, { metadata: { name: DEFAULT_NAMESPACE } });
  const fleet = await serveController({
    ...{ api: world.api, dataDir, sources: [], engineVersion: 'test', env: {}, embedded: true },
    ...{ clock: systemClock, random: Math.random, log: new SilentLogger() },
    registration: {
      ...{ duties: ['sets'], clock: systemClock },
      autoAcceptance: ACCEPT_NOBODY,
    },
    addons: { duties: ['install'], clock: systemClock },
  });
  onTestFinished(async () => {
    await fleet.close();
    await world.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const metadata = { namespace: 'default', name: 'global' };
  await world.make(MANAGED_CLUSTER_SET_BINDING, { metadata, spec: { clusterSet: 'global' } });
  const predicates = [
    {
      requiredClusterSelector: {
        labelSelector: { matchExpressions: [{ key: 'off', operator: 'DoesNotExist' }] },
      },
    },
  ];
  await world.make(PLACEMENT, { metadata: { namespace: 'default', name: 'p' }, spec: { predicates } });
  await world.addOn('a', [{ name: 'p' }]);
  await expect.poll(() => world.installedOn('a')).toEqual(['c1', 'c2']);
  const labels = { off: 'yes' };
  await world.api.mergePatch(MANAGED_CLUSTER, { namespace: '', name: 'c1' }, { metadata: { labels } });
  await expect.poll(() => world.installedOn('a')).toEqual(['c2']);
});
