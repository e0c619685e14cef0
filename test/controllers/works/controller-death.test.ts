import { describe, expect, it } from 'vitest';
import { MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import { MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import { Fleet } from './work-fleet.ts';

const GOOD = { Applied: 'True', Available: 'True' } as const;
const CLUSTERS = ['c1', 'c2', 'c3', 'c4'];
const strategy = { type: 'Progressive', progressive: { maxConcurrency: 2 } };
const annotations = { 'berth.dev/rollback': 'automatic' };

/** Lets the controllers die with their n-th write, done or not, and starts them again; true when they lived to the end. */
async function live(
  fleet: Fleet,
  writes: number,
  lastIsDone: boolean,
  story: () => Promise<void>,
): Promise<boolean> {
  const life = { dead: false, writesLeft: writes, lastIsDone };
  await fleet.start(new MortalKubeApi(fleet.hub, life));
  await story();
  const died = life.dead;
  // A dead process closes nothing: its calls never return. Only its timers must not go on in this one.
  if (died) fleet.abandon();
  else await fleet.stop();
  return !died;
}

describe('controllers that are killed', () => {
  it.each([true, false])(
    'continue after the death at any write (the last one done: %s)',
    async (lastIsDone) => {
      let lived = false;
      for (let writes = 1; !lived; writes++) {
        const fleet = new Fleet();
        await fleet.place('all', CLUSTERS.slice(0, 3));
        await fleet.replicaSet('1', { strategy, annotations });
        lived = await live(fleet, writes, lastIsDone, async () => {
          await fleet.settle();
          await fleet.report(CLUSTERS, GOOD);
          await fleet.report(CLUSTERS, GOOD);
          await fleet.replicaSet('2', { strategy, annotations });
          await fleet.settle();
          await fleet.report(['c1'], { Applied: 'False' });
          await fleet.place('all', CLUSTERS.slice(1));
          await fleet.settle();
        });
        await fleet.replicaSet('3', { strategy, annotations });
        await fleet.start();
        for (let round = 0; round < 6; round++) {
          await fleet.settle(60_000);
          await fleet.report(CLUSTERS, GOOD);
        }
        expect(await fleet.contents()).toEqual({ c2: '3', c3: '3', c4: '3' });
        expect(await fleet.works()).toHaveLength(3);
        expect(await fleet.conditions()).toMatchObject({ PlacementRolledOut: 'True Complete' });
        await fleet.hub.delete(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' });
        await fleet.settle();
        expect(await fleet.works()).toEqual([]);
        await fleet.stop();
        expect(writes).toBeLessThan(100);
      }
    },
  );
});
