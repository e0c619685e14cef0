import { afterEach, describe, expect, it } from 'vitest';
import {
  CLUSTER_MANAGEMENT_ADDON,
  EVENT,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import { readHubStatus } from '../../../src/controllers/leadership/read-hub-status.ts';
import { releaseAddOnRemovals } from '../../../src/controllers/releases/release-held.ts';
import { ADDON_GROUP, AddOnWorld } from './addon-world.ts';

const FIVE = ['c1', 'c2', 'c3', 'c4', 'c5'];
// fixed wait: what leaves is gathered for a second, and nothing shows that it was decided to stay
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2_500));

let world: AddOnWorld;
afterEach(() => world.close());

async function startWith(placements: Readonly<Record<string, readonly string[] | undefined>>): Promise<void> {
  world = await AddOnWorld.create(['install']);
  await world.clusters(FIVE);
  for (const [name, clusters] of Object.entries(placements)) await world.placement(name, clusters);
}

const expectInstalled = (want: readonly string[]): Promise<void> =>
  expect.poll(() => world.installedOn('a')).toEqual(want);

describe('add-ons by placement', () => {
  it('follow the decisions of all their placements, and belong to their ClusterManagementAddOn', async () => {
    await startWith({ p: ['c1'], q: ['c2'] });
    const { metadata } = await world.addOn('a', [{ name: 'p' }, { name: 'q' }]);
    await expectInstalled(['c1', 'c2']);
    await world.decide('p', ['c1', 'c3']);
    await expectInstalled(['c1', 'c2', 'c3']);
    await world.decide('q', ['c3']);
    await expectInstalled(['c1', 'c3']);
    const owner = (await world.clusterAddOn('c3', 'a'))?.metadata.ownerReferences?.[0];
    expect(owner).toMatchObject({ kind: 'ClusterManagementAddOn', uid: metadata.uid, controller: true });
    await world.api.delete(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'a' });
    await expectInstalled([]);
  });

  it('are left alone with the strategy Manual, and with a manager of their own', async () => {
    await startWith({ p: ['c1'] });
    await world.addOn('a', []);
    const placements = [{ namespace: 'default', name: 'p' }];
    await world.make(CLUSTER_MANAGEMENT_ADDON, {
      metadata: { name: 'own', annotations: { [`${ADDON_GROUP}/lifecycle`]: 'self' } },
      spec: { installStrategy: { type: 'Placements', placements } },
    });
    await world.make(MANAGED_CLUSTER_ADDON, { metadata: { namespace: 'c2', name: 'a' }, spec: {} });
    await settled();
    expect([await world.installedOn('a'), await world.installedOn('own')]).toEqual([['c2'], []]);
  });

  it('stay while a placement is missing or not decided, and others are installed', async () => {
    await startWith({ p: ['c1', 'c2'], open: undefined });
    await world.addOn('a', [{ name: 'p' }, { name: 'open' }, { name: 'gone' }]);
    await expectInstalled(['c1', 'c2']);
    await world.decide('p', ['c3']);
    await expectInstalled(['c1', 'c2', 'c3']);
    await settled();
    await expectInstalled(['c1', 'c2', 'c3']);
    expect(world.warnings().join()).toContain('placement default/gone does not exist');
    expect(world.warnings().join()).toContain('nobody has decided placement default/open yet');
  });

  it('stay when the pages or the placement are deleted', async () => {
    await startWith({ p: FIVE });
    await world.addOn('a', [{ name: 'p' }]);
    await expectInstalled(FIVE);
    await world.api.delete(PLACEMENT_DECISION, { namespace: 'default', name: 'p-decision-1' });
    await world.api.delete(PLACEMENT, { namespace: 'default', name: 'p' });
    await settled();
    await expectInstalled(FIVE);
  });

  it('stay when more clusters leave than the budget allows, until somebody releases exactly that', async () => {
    await startWith({ p: FIVE });
    await world.addOn('a', [{ name: 'p' }]);
    await expectInstalled(FIVE);
    await world.decide('p', ['c1', 'c2']);
    await expect.poll(() => world.events.at(-1)?.action).toBe('removals-held');
    await expectInstalled(FIVE);
    const [warning] = world.warnings();
    expect(warning).toContain('3 of 5 clusters would lose add-on a (budget 2): c3, c4, c5. They keep it.');
    const { items } = await world.api.list(EVENT, { namespace: 'default' });
    expect(items.map((event) => event['reason'])).toEqual(['Held']);
    // kubectl describe looks for that.
    expect(items[0]?.['regarding']).not.toHaveProperty('namespace');
    const code = /--token ([0-9a-f]{12})/.exec(warning ?? '')?.[1] ?? '';
    const status = await readHubStatus(world.api, Date.now());
    expect(status.addOnsHeld).toEqual([{ addOn: 'a', message: warning?.replace('add-ons: ', '') }]);
    const release = { code, releasedBy: 'test' };
    await expect(releaseAddOnRemovals(world.api, 'a', { ...release, code: '0'.repeat(12) })).rejects.toThrow(
      'does not match what would be removed now',
    );
    expect(await releaseAddOnRemovals(world.api, 'a', release)).toEqual(['c3', 'c4', 'c5']);
    await expectInstalled(['c1', 'c2']);
    expect(world.warnings()).toEqual([]);
    expect((await readHubStatus(world.api, Date.now())).addOnsHeld).toEqual([]);
  });

  it('leave within the budget, counted with those of the last minutes, those made by hand too', async () => {
    await startWith({ p: ['c1', 'c2', 'c3', 'c4'] });
    await world.addOn('a', [{ name: 'p' }]);
    await expectInstalled(['c1', 'c2', 'c3', 'c4']);
    await world.make(MANAGED_CLUSTER_ADDON, { metadata: { namespace: 'c5', name: 'a' }, spec: {} });
    await expectInstalled(['c1', 'c2', 'c3', 'c4']);
    await world.decide('p', ['c2', 'c3', 'c4']);
    await expectInstalled(['c2', 'c3', 'c4']);
    await world.decide('p', ['c3', 'c4']);
    await expect.poll(() => world.warnings().join()).toContain('after 2 in the last minutes');
    await expectInstalled(['c2', 'c3', 'c4']);
  });

  it('have the annotations of their cluster, and keep those of others', async () => {
    const [values, node] = [`${ADDON_GROUP}/values`, `${ADDON_GROUP}/node`];
    world = await AddOnWorld.create(['install']);
    await world.clusters(['c1'], { [node]: 'x', other: 'y' });
    await world.placement('p', ['c1']);
    await world.addOn('a', [{ name: 'p' }]);
    await expectInstalled(['c1']);
    const annotations = async () => (await world.clusterAddOn('c1', 'a'))?.metadata.annotations;
    expect(await annotations()).toEqual({ [node]: 'x', 'berth.dev/copied-annotations': node });
    const key = { namespace: 'c1', name: 'a' };
    await world.api.mergePatch(MANAGED_CLUSTER_ADDON, key, { metadata: { annotations: { [values]: '{}' } } });
    await world.api.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name: 'c1' },
      {
        metadata: { annotations: { [node]: null } },
      },
    );
    await expect.poll(annotations).toEqual({ [values]: '{}' });
  });

  it('survive a restart without a write', async () => {
    await startWith({ p: ['c1'] });
    await world.addOn('a', [{ name: 'p' }]);
    await expectInstalled(['c1']);
    await settled();
    const before = (await world.clusterAddOn('c1', 'a'))?.metadata.resourceVersion;
    await world.stop();
    world.start(['install']);
    await settled();
    expect((await world.clusterAddOn('c1', 'a'))?.metadata.resourceVersion).toBe(before);
  });
});
