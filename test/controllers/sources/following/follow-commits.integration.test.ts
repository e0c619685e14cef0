import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAP } from '../../../../src/core/model/kinds.ts';
import { SteeredClock } from '../../../fakes/steered-clock.ts';
import { baseFiles, placement, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';
import { interceptedApi } from './intercepted-api.ts';

const web = (count: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: count })) });
const other = (count: number) => ({ 'other.yaml': yaml(placement('other', { numberOfClusters: count })) });
/** Of a kind that nothing watches. */
const settings = {
  'settings.yaml': yaml({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'team-a', name: 'settings' },
  }),
};

describe('following commit after commit', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  /** The hub's client, with the lists of the ApplySet's members counted. */
  const counting = () => {
    const counts = { memberLists: 0 };
    const api = interceptedApi(fleet.hub.api, (method, args) => {
      const [, options] = args as [unknown, { labelSelector?: string } | undefined];
      if (method === 'list' && options?.labelSelector?.startsWith('applyset')) counts.memberLists += 1;
    });
    return { api, counts };
  };

  it('looks at what changed in Git, and at the whole hub only when something left', async () => {
    const { api, counts } = counting();
    fleet.git.commit({ ...baseFiles, ...web(1), ...other(1) });
    await fleet.serve({ api });
    await fleet.published('web');
    await fleet.event('synced');
    const lists = counts.memberLists;
    expect(lists).toBeGreaterThan(0);
    let after = fleet.events.length;
    fleet.git.commit(web(2));
    expect((await fleet.published('web', after)).clusters).toHaveLength(2);
    expect(await fleet.event('synced', () => true, after)).toMatchObject({ applied: 1, pruned: 0 });
    expect(counts.memberLists).toBe(lists);
    after = fleet.events.length;
    fleet.git.commit({ 'other.yaml': undefined });
    expect(await fleet.event('synced', () => true, after)).toMatchObject({ applied: 0, pruned: 1 });
    expect(counts.memberLists).toBeGreaterThan(lists);
  });

  it('puts back at the interval what was deleted by hand, although commits keep coming', async () => {
    const clock = new SteeredClock();
    fleet.git.commit({ ...baseFiles, ...settings, ...other(1) });
    await fleet.serve({ clock, resyncIntervalMs: 3_600_000 });
    await fleet.published('other');
    await fleet.event('synced');
    const key = { namespace: 'team-a', name: 'settings' };
    await fleet.hub.api.delete(CONFIG_MAP, key);
    // Each of them well before the next look at the whole hub would be due if it counted from there.
    for (let commits = 0; commits < 3; commits++) {
      expect(await fleet.hub.api.get(CONFIG_MAP, key)).toBeUndefined();
      const after = fleet.events.length;
      fleet.git.commit(other(2 + commits));
      await fleet.event('synced', ({ applied }) => applied > 0, after);
      clock.skip(1_250_000);
    }
    await fleet.until(() => fleet.hub.api.get(CONFIG_MAP, key));
  });
});
