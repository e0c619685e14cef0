import { CLUSTER_MANAGEMENT_ADDON, EVENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldRemovals } from '../../../src/controllers/addons/addon-installer.ts';
import { heldRemoval } from '../../../src/core/addon/install/held-removal.ts';
import { AddOnWorld } from './addon-world.ts';

const HOLD = { code: '0a1b2c3d4e5f', message: '3 of 5 clusters would lose add-on a' };
const NEXT = { code: '1a1b2c3d4e5f', message: '4 of 5 clusters would lose add-on a' };
const MINUTE_MS = 60_000;

let world: AddOnWorld;
let clock: FakeClock;
beforeEach(async () => {
  world = await AddOnWorld.create();
  await world.addOn('a', []);
  clock = new FakeClock();
});
afterEach(() => world.close());

const begin = (): HeldRemovals => new HeldRemovals({ hub: world.api, clock, log: new SilentLogger() });

const stored = async (): Promise<KubeObject> =>
  (await world.api.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'a' })) as KubeObject;

async function events(): Promise<readonly unknown[]> {
  const { items } = await world.api.list(EVENT, { namespace: 'default' });
  return items.map(({ metadata, series }) => [
    metadata.name,
    (series as { readonly count: number } | undefined)?.count,
  ]);
}

describe('a held removal of an add-on', () => {
  it('is on its ClusterManagementAddOn until it ends, also for the next process', async () => {
    const first = begin();
    expect(await first.note(await stored(), HOLD)).toBe(true);
    const sinceMs = Math.floor(clock.now() / 1_000) * 1_000;
    expect(heldRemoval(await stored())).toEqual({ ...HOLD, sinceMs });
    const { resourceVersion } = (await stored()).metadata;
    await clock.advance(MINUTE_MS);
    const next = begin();
    expect(await next.note(await stored(), HOLD)).toBe(false);
    expect((await stored()).metadata.resourceVersion).toBe(resourceVersion);
    expect(next.messages()).toEqual([HOLD.message]);
    expect(await next.note(await stored(), NEXT)).toBe(true);
    await next.clear(await stored());
    expect([heldRemoval(await stored()), next.messages()]).toEqual([undefined, []]);
  });

  it('has one Event, which is renewed every half hour, and written again when it is gone', async () => {
    const held = begin();
    const look = async (minutes: number): Promise<readonly unknown[]> => {
      for (let passed = 0; passed < minutes; passed++) {
        await clock.advance(MINUTE_MS);
        await held.note(await stored(), HOLD);
      }
      return events();
    };
    await held.note(await stored(), HOLD);
    const name = `a.held-${HOLD.code}`;
    expect(await look(29)).toEqual([[name, undefined]]);
    expect(await look(1)).toEqual([[name, 2]]);
    await world.api.delete(EVENT, { namespace: 'default', name });
    expect(await look(30)).toEqual([[name, 3]]);
  });
});
