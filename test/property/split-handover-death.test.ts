import { describe, expect, it } from 'vitest';
import { type Life, MortalKubeApi } from '../fakes/mortal-kube-api.ts';
import { SplitWorld } from '../controllers/works/split-world.ts';

describe('a template that is spread over several works', () => {
  it.each([true, false])(
    'takes nothing away although the controller dies at any write (the last one done: %s)',
    async (lastIsDone) => {
      let lived = false;
      for (let writes = 1; !lived; writes++) {
        const world = new SplitWorld();
        await world.fleet.place('all', ['c1']);
        await world.start();
        await world.cut('four and two', '0');
        await world.fleet.settle(20_000);
        await world.fleet.stop();
        const life: Life = { dead: false, writesLeft: writes, lastIsDone };
        await world.start(new MortalKubeApi(world.fleet.hub, life));
        await world.cut('one, three and two', '1');
        await world.fleet.settle(20_000);
        lived = !life.dead;
        if (life.dead) world.fleet.abandon();
        else await world.fleet.stop();
        // The next one finds another template, in the middle of the handover.
        await world.cut('three and three', '2');
        await world.start();
        await world.fleet.settle(30_000);
        expect(world.member.deleted).toEqual([]);
        expect(Object.values(await world.member.contents()).map((text) => text[0])).toEqual(
          Array.from({ length: 6 }, () => '2'),
        );
        expect(await world.fleet.works()).toHaveLength(2);
        await world.stop();
        expect(writes).toBeLessThan(60);
      }
    },
  );
});
