import { describe, expect, it } from 'vitest';
import { HubRemovals } from '../../../../src/controllers/argocd/pull/hub-removals.ts';
import { ConflictError, InputError } from '@berth/runtime/errors';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import { sha256 } from '@berth/runtime/sha256';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';

const KEY = { namespace: 'berth-system', name: 'berth-pull-removals' };
const [SHOP, WEB] = ['ApplicationSet argocd/shop', 'Applications in team-a'];

describe('removals of pulled works that are kept on the hub', () => {
  const start = () => {
    const [hub, clock] = [new FakeKubeApi(), new FakeClock()];
    return { hub, clock, leader: () => new HubRemovals({ hub, clock, digest: sha256 }) };
  };
  const dataOf = async (hub: FakeKubeApi) =>
    ((await hub.get(CONFIG_MAP, KEY))?.['data'] ?? {}) as Readonly<Record<string, string>>;

  it('are read by the next leader, each group for itself', async () => {
    const { leader, clock } = start();
    const removals = [{ atMs: clock.now(), count: 2 }];
    expect(await leader().read(SHOP)).toEqual([]);
    await leader().persist(SHOP, removals);
    await leader().persist(WEB, [{ atMs: clock.now(), count: 1 }]);
    expect(await leader().read(SHOP)).toEqual(removals);
  });

  it('go when they no longer count, so that groups that are gone leave nothing', async () => {
    const { leader, clock, hub } = start();
    await leader().persist(SHOP, [{ atMs: clock.now(), count: 2 }]);
    await clock.advance(600_000);
    await leader().persist(WEB, [{ atMs: clock.now(), count: 1 }]);
    const texts = Object.values(await dataOf(hub)).join();
    expect(texts).toContain(WEB);
    expect(texts).not.toContain(SHOP);
  });

  it.each([
    ['no JSON', '{'],
    ['something else', '{"removals":3}'],
    ['a time that is none', '{"removals":[{"atMs":null,"count":1}]}'],
    ['less than nothing', '{"removals":[{"atMs":1,"count":-5}]}'],
  ])('are an error where somebody wrote %s: nothing is removed then', async (_what, text) => {
    const { leader, clock, hub } = start();
    await leader().persist(SHOP, [{ atMs: clock.now(), count: 2 }]);
    const [key = ''] = Object.keys(await dataOf(hub));
    await hub.mergePatch(CONFIG_MAP, KEY, { data: { [key]: text } });
    await expect(leader().read(SHOP)).rejects.toThrow(InputError);
    await expect(leader().persist(WEB, [])).rejects.toThrow(/kubectl|removals that Berth wrote/);
  });

  it('are not overwritten by a process that read them before another one wrote', async () => {
    const { leader, clock, hub } = start();
    await leader().persist(SHOP, [{ atMs: clock.now(), count: 2 }]);
    const get = hub.get.bind(hub);
    const late = leader();
    hub.get = async (kind, key) => {
      const found = await get(kind, key);
      hub.get = get;
      await leader().persist(SHOP, [{ atMs: clock.now(), count: 3 }]);
      return found;
    };
    await expect(late.persist(SHOP, [])).rejects.toThrow(ConflictError);
    expect(await leader().read(SHOP)).toMatchObject([{ count: 3 }]);
  });
});
