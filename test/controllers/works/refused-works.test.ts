import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { Condition } from '@berth/kube/model/object-meta';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { Fleet } from './work-fleet.ts';

/** After a refusal of one second this much must be enough; the longest wait is 30 s only after many of them. */
const SECONDS = 5_000;

describe.each(['kube.forbidden', 'kube.notfound'] as const)('a hub that answers %s for a moment', (code) => {
  let fleet: Fleet;
  let hub: RefusingKubeApi;
  beforeEach(() => {
    fleet = new Fleet();
    hub = new RefusingKubeApi(fleet.hub, code);
  });
  afterEach(() => fleet.stop());

  const applied = async (): Promise<Condition | undefined> => {
    const live = await fleet.hub.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' });
    const { conditions = [] } = (live?.['status'] ?? {}) as { conditions?: Condition[] };
    return conditions.find(({ type }) => type === 'ManifestworkApplied');
  };

  it('to the writing of works: the works come within seconds; condition, status and events name it', async () => {
    hub.refused.add('create manifestworks');
    await fleet.start(hub);
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1');
    await fleet.settle();
    expect(await fleet.works()).toEqual([]);
    expect(await applied()).toMatchObject({
      status: 'False',
      reason: 'NotAsExpected',
      message: expect.stringContaining('the server refused to create manifestworks'),
    });
    expect(fleet.warnings()).toEqual([
      expect.stringMatching(
        /^ManifestWorkReplicaSet team\/web failed and is tried again: .*create manifestworks/,
      ),
    ]);
    expect(fleet.errors).toContainEqual(['team/web', expect.objectContaining({ code })]);

    hub.refused.clear();
    await fleet.settle(SECONDS);
    expect(await fleet.contents()).toEqual({ c1: '1', c2: '1' });
    expect((await applied())?.message).toBe('');
    expect(fleet.warnings()).toEqual([]);
  });

  it('to the writing of works for hours: they come within 30 s of its end', async () => {
    hub.refused.add('create manifestworks');
    await fleet.start(hub);
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1');
    await fleet.settle(7_200_000);
    hub.refused.clear();
    await fleet.settle(30_000);
    expect(await fleet.contents()).toEqual({ c1: '1' });
  });

  it.each(['list manifestworks', 'list manifestworkreplicasets', 'list placementdecisions'])(
    'to %s at the start: works come within seconds of its end, and none goes',
    async (right) => {
      await fleet.start();
      await fleet.place('all', ['c1', 'c2']);
      await fleet.replicaSet('1');
      await fleet.settle();
      await fleet.stop();
      await fleet.place('all', ['c2', 'c3']);
      hub.refused.add(right);
      await fleet.start(hub);
      await fleet.settle();
      expect(await fleet.contents()).toEqual({ c1: '1', c2: '1' });
      expect(fleet.warnings()).toEqual([
        expect.stringMatching(/^works: .*(missing|cannot be read).*until then no works are written$/),
      ]);
      expect(fleet.errors).toContainEqual([right.split(' ')[1], expect.objectContaining({ code })]);
      hub.refused.clear();
      await fleet.settle(SECONDS);
      expect(await fleet.contents()).toEqual({ c2: '1', c3: '1' });
      expect(fleet.warnings()).toEqual([]);
    },
  );

  it('to the deletion of works: what is to go goes within seconds', async () => {
    await fleet.start(hub);
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1');
    await fleet.settle();
    hub.refused.add('delete manifestworks');
    await fleet.place('all', ['c2']);
    await fleet.settle();
    expect(Object.keys(await fleet.contents())).toEqual(['c1', 'c2']);
    hub.refused.clear();
    await fleet.settle(SECONDS);
    expect(Object.keys(await fleet.contents())).toEqual(['c2']);
  });
});
