import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObjectCache } from '@berth/kube/cache/object-cache';
import { HubInventory } from '../../../src/controllers/inventory/hub-inventory.ts';
import { PLACEMENT } from '@berth/kube/model/kinds';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

describe('the age of the inventory', () => {
  let hub: FakeKubeApi;
  let api: RefusingKubeApi;
  let clock: FakeClock;
  let supervisor: Supervisor;
  let inventory: HubInventory;
  beforeEach(async () => {
    hub = new FakeKubeApi();
    api = new RefusingKubeApi(hub, 'kube.notfound');
    clock = new FakeClock();
    const shared = { clock, random: () => 0.5, log: new SilentLogger() };
    supervisor = new Supervisor(shared);
    const cache = new ObjectCache({ ...shared, api });
    inventory = new HubInventory({ cache, clock });
    expect(inventory.age()).toBe('placements have not been read yet');
    cache.start(supervisor);
    await clock.advance(0);
  });
  afterEach(() => supervisor.close());

  it('is not told while every watch is open', async () => {
    await clock.advance(60_000);
    expect(inventory.age()).toBeUndefined();
  });

  it('is reported when a watch is silent', async () => {
    await clock.advance(100_000);
    expect(inventory.age()).toMatch(/^\w+ were last confirmed 100 s ago$/);
    expect(inventory.problem()).toBeUndefined();
    // The watches are opened again, and nothing changed meanwhile.
    await clock.advance(60_000);
    expect(inventory.age()).toBeUndefined();
  });

  it('is reported while the hub lets a kind be neither watched nor listed', async () => {
    api.refused.add(`list ${PLACEMENT.plural}`);
    hub.expire();
    await clock.advance(20_000);
    expect(inventory.age()).toContain('placements');
  });

  it('is good enough to be served, for a while, after a hub refused what it allowed before', async () => {
    // As an API server does that has started and has not read its roles.
    api.refused.add(`list ${PLACEMENT.plural}`);
    hub.expire();
    await clock.advance(20_000);
    expect(inventory.problem()).toMatch(/^placements.* cannot be read/);
    expect(inventory.servingProblem()).toBeUndefined();
    expect(inventory.warnings().join()).toMatch(/^placements.* until then every change is held$/);
    await clock.advance(300_000);
    expect(inventory.servingProblem()).toBe(inventory.problem());
    api.refused.clear();
    await clock.advance(60_000);
    expect([inventory.problem(), ...inventory.warnings()]).toEqual([undefined]);
  });
});
